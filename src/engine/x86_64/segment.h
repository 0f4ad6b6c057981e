// segment.h: a segment of a block as Leave::budget names it. Its block's marks say the rest, so that no record is kept
// of each: there are as many as exits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/cache.h"

namespace anyperf::engine::x86_64 {

/// A segment that has been charged for, and has not run.
struct ChargedSegment {
    BlockId block = 0;
    std::uint64_t pc = 0;
    std::int32_t charged = 0;  ///< what was taken from the lane's first word
    std::size_t lane = 0;      ///< of the thread's counters

    /// The instructions in `charged`; what else there is in it counts up, below them.
    std::int64_t instructions() const { return (std::int64_t{charged} + (1 << kUpperCounter) - 1) >> kUpperCounter; }
};

inline constexpr unsigned kLaneBits = 2;
inline constexpr unsigned kFirstBits = 6;
static_assert(Cache::kMaximumBlocks <= std::uint32_t{1} << (32 - kFirstBits - kLaneBits));
static_assert(kLanes <= std::size_t{1} << kLaneBits);

/// `first`: of its instructions, by its place in the block.
constexpr std::uint32_t name_of_segment(BlockId block, std::size_t first, std::size_t lane) {
    return block << (kFirstBits + kLaneBits) | static_cast<std::uint32_t>(first << kLaneBits | lane);
}

ChargedSegment segment_of(Cache& cache, std::uint32_t name);

}  // namespace anyperf::engine::x86_64
