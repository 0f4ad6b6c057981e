// stored_block.h: the record of one block in a file of stored translations. The parts follow each other in the order of
// StoredBlock's members, without gaps; a record begins at a multiple of 4 bytes.
//
// What follows from the rest is left out. A stub is the same code for each exit, so the cold code is stored without its
// stubs. Marks are packed, as in memory (cache/packed_marks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cache/block.h"
#include "engine/x86_64/translate/relocations.h"
#include "run/tuple_counts.h"

namespace anyperf::engine {

struct [[gnu::packed, gnu::aligned(4)]] StoredBlockHead {
    std::uint32_t checksum = 0;  ///< of the record after this word
    std::uint32_t place = 0;     ///< offset in the translated file of the block's first instruction
    std::uint64_t code = 0;      ///< checksum_of_code() of what it was made from
    std::uint16_t bytes = 0;     ///< of the record
    std::uint16_t guest_bytes = 0;
    std::uint16_t hot_bytes = 0;
    std::uint16_t cold_bytes = 0;  ///< with the stubs
    std::uint16_t mark_bytes = 0;
    std::uint8_t instructions = 0;
    std::uint8_t exits = 0;
    std::uint8_t stubs = 0;  ///< exits that have one
    std::uint8_t relocations = 0;
    std::uint8_t tuples = 0;
    std::uint8_t ranges = 0;     ///< of code
    std::uint8_t alignment = 0;  ///< address of the hot code, of the cold code, modulo 8: a nibble each
    std::uint8_t lane = 0;
    std::uint8_t flags = 0;
    std::uint8_t unused = 0;
    static constexpr std::uint8_t kBudgeted = 1;           ///< as Block::budgeted
    static constexpr std::uint8_t kIndirect = 2;           ///< an indirect branch has led to it
    static constexpr std::uint8_t kCounted = 4;            ///< its code counts the classes of the file's key; else none
    static constexpr std::uint8_t kCountsExecutions = 16;  ///< as Block::counts_executions
};
static_assert(sizeof(StoredBlockHead) == 36);

/// A range of the application's code that the block was made from. One of them has the whole block.
struct [[gnu::packed]] StoredRange {
    std::int32_t from = 0;  ///< its distance from the block's first instruction
    std::uint16_t bytes = 0;
};
static_assert(sizeof(StoredRange) == 6);

struct [[gnu::packed]] StoredExit {
    std::int32_t target = 0;    ///< its distance from the block's first instruction
    std::uint16_t operand = 0;  ///< as Exit::operand; 0: the exit has no stub
    std::uint16_t stub = 0;     ///< place of the stub in the cold code; stubs have rising places
    std::uint8_t control : 7 = 0;
    std::uint8_t steps : 1 = 0;  ///< as Exit::steps
    std::uint8_t length : 7 = 0;
    std::uint8_t was_linked : 1 = 0;  ///< the way was taken when the block was stored
};
static_assert(sizeof(StoredExit) == 10);

/// A record with the right checksum, whose parts have their sizes. The places in them are checked as they are used
/// (load_block.cpp), so that no write leaves the block. Marks are not checked: damage shows in the checksum, and
/// whoever can forge a record can have code of their choice run anyway.
struct StoredBlock {
    StoredBlockHead head;
    const run::Tuple* tuples = nullptr;
    const x86_64::Relocation* relocations = nullptr;
    const StoredExit* exits = nullptr;
    const StoredRange* ranges = nullptr;
    const std::uint8_t* marks = nullptr;  ///< packed
    const std::uint8_t* hot = nullptr;
    const std::uint8_t* cold = nullptr;  ///< without the stubs

    bool budgeted() const { return (head.flags & StoredBlockHead::kBudgeted) != 0; }
    bool indirect() const { return (head.flags & StoredBlockHead::kIndirect) != 0; }
    bool counted() const { return (head.flags & StoredBlockHead::kCounted) != 0; }
    bool counts_executions() const { return (head.flags & StoredBlockHead::kCountsExecutions) != 0; }
    unsigned hot_alignment() const { return head.alignment & 7u; }
    unsigned cold_alignment() const { return head.alignment >> 4; }
    /// Bytes of `cold`.
    std::size_t cold_rest() const;
};

/// The bytes of a record with these counts.
std::size_t stored_bytes(const StoredBlockHead& head);

/// The record at the start of `bytes`. False if it is damaged.
bool parse_stored_block(std::span<const std::uint8_t> bytes, StoredBlock& out);

/// Sets the pointers of `block` to the parts of a record that begins at `record`, by the counts of its head.
void locate_parts(const std::uint8_t* record, StoredBlock& block);

/// The checksum of what a block at `pc` was made from. Precondition: the ranges can be read.
std::uint64_t checksum_of_code(std::uint64_t pc, const StoredRange* ranges, std::size_t count);

/// The checksum of a record, as StoredBlockHead::checksum has it.
std::uint32_t checksum_of_record(const std::uint8_t* record, std::size_t bytes);

}  // namespace anyperf::engine
