// segment.h: encodes which segment exhausted the budget as 32 bits, the payload of ExitReason::budget. (What a segment
// is: translate.h.) The number has the block, the index of the segment's first instruction and its lane; all else is
// computed from the block's marks. A record for each segment would take as much memory as the exits, and it would be
// used only at the end of a budget.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/cache.h"

namespace anyperf::engine::x86_64 {

/// A segment whose prologue has charged the budget, but which has not run.
struct ChargedSegment {
    BlockId block = 0;
    std::uint64_t pc = 0;  ///< the application's address of its first instruction
    std::int64_t instructions = 0;
    bool budgeted = false;   ///< they were subtracted from the lane; adding them undoes the charge
    std::size_t lane = 0;    ///< the lane that was charged
    std::int64_t steps = 0;  ///< of a turn, which a trace has charged before its instructions
};

inline constexpr unsigned kLaneBits = 2;
inline constexpr unsigned kFirstBits = 6;
static_assert(Cache::kMaximumBlocks <= std::uint32_t{1} << (32 - kFirstBits - kLaneBits));
static_assert(run::kLanes <= std::size_t{1} << kLaneBits);

/// `first`: index in the block of the segment's first instruction.
constexpr std::uint32_t encode_segment(BlockId block, std::size_t first, std::size_t lane) {
    return block << (kFirstBits + kLaneBits) | static_cast<std::uint32_t>(first << kLaneBits | lane);
}

/// The lower half of RecordStream::next_top if a segment exits because the buffer of records is full: Registers::rip is
/// its address then, and Thread::next_host that of its prologue, which may simply go on. No place in the buffer is
/// this.
inline constexpr std::uint32_t kMayGoOn = 0x40000000;

/// The segment that encode_segment() has encoded. Precondition: the cache has not been emptied since.
ChargedSegment decode_segment(Cache& cache, std::uint32_t name);

}  // namespace anyperf::engine::x86_64
