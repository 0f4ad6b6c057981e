// relocations.h: what of a block's code depends on where the block is and on the process that it is in. The translator
// notes it here if the block may be stored for other processes (engine/store). A place is an offset in the block's hot
// code, from Block::host on, or in its cold code, which begins after the mismatch code of its indirect entry.
//
// The stub of an exit and the operand that leads to it are not noted: Exit says where they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/x86_64/decode/decode_block.h"
#include "run/tuple_counts.h"

namespace anyperf::engine::x86_64 {

enum class RelocationKind : std::uint8_t {
    to_cold,       ///< rel32 to the offset `value` of the cold code
    to_exit_jump,  ///< rel32 to the exit routine of the ExitReason `value`
    to_code,       ///< rel32 to the application address Block::pc + value; `rest` bytes of its instruction follow
    address,       ///< 8 bytes: the application address Block::pc + value
    address32,     ///< 4 bytes, the same; the address is below 2 GiB
    table,         ///< 4 bytes: the address of the table of indirect entries
    exit,          ///< 4 bytes: the number of the block's exit `value`
    segment,       ///< 4 bytes: encode_segment(), whose bits below the block's number are `value`
    word,          ///< 4 bytes: the offset in Thread of a word that counts the block's tuple `value`
    heat,          ///< 4 bytes: the offset in Thread of the word that counts the block's executions
    block,         ///< 4 bytes: the block's number
    count,
};

struct Relocation {
    std::uint16_t at = 0;  ///< the place
    RelocationKind kind = RelocationKind::count;
    std::uint8_t in_cold : 1 = 0;
    std::uint8_t rest : 7 = 0;
    std::int32_t value = 0;

    std::size_t bytes() const { return kind == RelocationKind::address ? 8 : 4; }
};
static_assert(sizeof(Relocation) == 8);

/// Of one block. It is used again for the next one: begin().
class Relocations {
  public:
    static constexpr std::size_t kMost = 120;
    static constexpr std::size_t kMostTuples = 16;

    void begin() {
        count_ = tuples_ = 0;
        complete_ = true;
        read = {};
    }

    void add(const Relocation& relocation) {
        if (count_ == kMost) return give_up();
        relocation_[count_++] = relocation;
    }
    /// Adds what a prologue counts. Returns its number.
    std::int32_t add_tuple(const run::Tuple& tuple) {
        if (tuples_ == kMostTuples) return give_up(), 0;
        tuple_[tuples_] = tuple;
        return static_cast<std::int32_t>(tuples_++);
    }
    /// The block can't be stored.
    void give_up() { complete_ = false; }

    bool complete() const { return complete_ && !read.too_many; }
    std::size_t count() const { return count_; }
    const Relocation& operator[](std::size_t i) const { return relocation_[i]; }
    std::size_t tuples() const { return tuples_; }
    const run::Tuple& tuple(std::size_t i) const { return tuple_[i]; }

    CodeRead read;                 ///< what the translation depends on
    std::uint8_t* cold = nullptr;  ///< where the block's cold code begins
    std::size_t cold_bytes = 0;    ///< and how long it is

  private:
    std::size_t count_ = 0;
    std::size_t tuples_ = 0;
    bool complete_ = false;
    std::array<Relocation, kMost> relocation_;
    std::array<run::Tuple, kMostTuples> tuple_;
};

}  // namespace anyperf::engine::x86_64
