// stored_block.h: the record of one block in a file of stored translations. The parts follow each other in the order of
// StoredBlock's members; each begins at a multiple of 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cache/block.h"
#include "engine/x86_64/translate/relocations.h"
#include "run/tuple_counts.h"

namespace anyperf::engine {

struct StoredBlockHead {
    std::uint64_t checksum = 0;  ///< of the record after this word
    std::uint32_t bytes = 0;     ///< of the record
    std::uint32_t place = 0;     ///< offset in the translated file of the block's first instruction
    std::uint16_t guest_bytes = 0;
    std::uint16_t hot_bytes = 0;
    std::uint16_t cold_bytes = 0;
    std::uint16_t unused = 0;
    x86_64::ClassSet counted = 0;
    std::uint8_t instructions = 0;
    std::uint8_t exits = 0;
    std::uint8_t relocations = 0;
    std::uint8_t tuples = 0;
    std::uint8_t pages = 0;
    std::uint8_t alignment = 0;  ///< address of the hot code, of the cold code, modulo 8: a nibble each
    std::uint8_t lane = 0;
    std::uint8_t flags = 0;
    std::uint32_t code = 0;                       ///< checksum32() of the application's code that it was made from
    static constexpr std::uint8_t kBudgeted = 1;  ///< as Block::budgeted
    static constexpr std::uint8_t kIndirect = 2;  ///< an indirect branch has led to it
};
static_assert(sizeof(StoredBlockHead) == 40);

struct StoredExit {
    std::int32_t target = 0;    ///< its distance from the block's first instruction
    std::uint32_t stub = 0;     ///< place of the stub in the cold code
    std::uint16_t operand = 0;  ///< as Exit::operand; 0: the exit has no stub
    std::uint8_t control = 0;
    std::uint8_t length = 0;
    std::uint32_t was_linked = 0;  ///< 1: the way was taken when the block was stored
};

/// A record that has been checked: the parts have their sizes, and every place in them is inside of the block.
struct StoredBlock {
    StoredBlockHead head;
    const std::uint32_t* pages = nullptr;  ///< indexes of the file's pages
    const run::Tuple* tuples = nullptr;
    const x86_64::Relocation* relocations = nullptr;
    const StoredExit* exits = nullptr;
    const Mark* marks = nullptr;  ///< one more than instructions
    const std::uint8_t* hot = nullptr;
    const std::uint8_t* cold = nullptr;

    bool budgeted() const { return (head.flags & StoredBlockHead::kBudgeted) != 0; }
    bool indirect() const { return (head.flags & StoredBlockHead::kIndirect) != 0; }
    unsigned hot_alignment() const { return head.alignment & 7u; }
    unsigned cold_alignment() const { return head.alignment >> 4; }
};

/// The bytes of a record with these counts.
std::size_t stored_bytes(const StoredBlockHead& head);

/// The record at the start of `bytes`. False if it is damaged.
bool parse_stored_block(std::span<const std::uint8_t> bytes, StoredBlock& out);

/// Sets the pointers of `block` to the parts of a record that begins at `record`, by the counts of its head.
void locate_parts(const std::uint8_t* record, StoredBlock& block);

/// The checksum of a record, as StoredBlockHead::checksum has it.
std::uint64_t checksum_of_record(const std::uint8_t* record, std::size_t bytes);

}  // namespace anyperf::engine
