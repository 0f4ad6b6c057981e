// recorded_segment.h: what a recorded segment accesses, as far as its code says it. While a thread's caches and branch
// predictors are modelled, a segment writes only its number and the registers that its addresses depend on
// (x86_64/translate/record_accesses.cpp). These records say how the addresses follow from the registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/block.h"

namespace anyperf::engine {

/// One access, in the order in which the segment makes them.
struct RecordedAccess {
    enum class Kind : std::uint8_t {
        load,
        store,
        modify,       ///< reads its operand, then writes it
        load_while,   ///< of a REP string instruction: a load for each iteration
        store_while,  ///< likewise
        fs_base,      ///< no access: the base of fs is words[base] from here on
        fetch,        ///< of the instruction itself, `bytes` long, which begins or ends in another line of code than
                      ///< the instruction before it ended in
    };
    std::int64_t displacement = 0;
    std::uint16_t bytes : 15 = 0;      ///< of a REP, those of one iteration
    std::uint16_t byte_index : 1 = 0;  ///< only the low byte of the index counts (xlat)
    std::uint16_t offset = 0;          ///< of the instruction, from the segment's start
    std::uint8_t base = 0;             ///< the word of the record that has the base register's value; 0: none
    std::uint8_t index = 0;            ///< likewise
    std::uint8_t after = 0;  ///< of a REP: the word with the pointer's value after the instruction; of others:
                             ///< 1 if the address comes from a load of the segment
    Kind kind : 3 = Kind::load;
    std::uint8_t scale : 2 = 0;      ///< the index is shifted left by it
    std::uint8_t address32 : 1 = 0;  ///< the address has 32 bits
    std::uint8_t in_fs : 1 = 0;      ///< the base of fs is added
    std::uint8_t in_gs : 1 = 0;      ///< the application's base of gs is added
};
static_assert(sizeof(RecordedAccess) == 16);

/// A segment. The lengths of its instructions are in the marks of its block.
struct RecordedSegment {
    std::uint64_t pc = 0;
    std::uint64_t replay = 0;  ///< address of the code that replays it, or Cache::leave_replay
    BlockId block = 0;
    std::uint32_t first_access = 0;  ///< number of its first RecordedAccess; the others follow
    std::uint8_t accesses = 0;
    std::uint8_t resolving = 0;          ///< cycles that a misprediction of its branch costs beyond the penalty
    std::uint16_t bytes : 10 = 0;        ///< of its instructions
    std::uint16_t replays : 6 = 0;       ///< how often it was replayed without code, until it gets some
    std::uint32_t first : 7 = 0;         ///< index in the block of its first instruction
    std::uint32_t instructions : 7 = 0;  ///< that its prologue has counted
    std::uint32_t words : 8 = 1;         ///< of its record: its number, and values of registers
    std::uint32_t last_bytes : 4 = 0;    ///< of its last instruction
    std::uint32_t last : 5 = 0;          ///< Control of its last instruction

    /// The first word of a record is the distance of its segment from that of number 0 in bytes.
    static constexpr unsigned kShift = 5;
    static constexpr std::uint32_t first_word(std::uint32_t number) { return number << kShift; }
    static constexpr std::uint32_t number_of(std::uint64_t first_word) {
        return static_cast<std::uint32_t>(first_word >> kShift);
    }

    x86_64::Control control() const { return static_cast<x86_64::Control>(last); }
};
static_assert(sizeof(RecordedSegment) == 1U << RecordedSegment::kShift);

}  // namespace anyperf::engine
