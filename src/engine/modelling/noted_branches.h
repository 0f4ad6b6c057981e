// noted_branches.h: says of the branches in a thread's ring (RecordedBranches) which were mispredicted, where the
// predictors are fed with records of segments.
//
// Translated code writes the ring while it runs, and the predictors see the branches later, when the records are
// replayed. Each branch in the ring since the last replay is the end of a segment in the records. So the newest
// branches of both are the same, in the same order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

class NotedBranches {
  public:
    /// A branch of a recorded kind at `from` was taken.
    void add(std::uint64_t from, bool mispredicted) {
        newest_[++count_ % RecordedBranches::kEntries] = {from, mispredicted, 0};
    }
    /// A branch that was not taken was mispredicted.
    void add_misprediction_after() { ++newest_[count_ % RecordedBranches::kEntries].after; }

    /// Marks the branches in the ring, newest first, and forgets them. It ends where ring and records differ, as at
    /// branches that ran before the ring began.
    void mark(RecordedBranches& ring) {
        constexpr std::uint32_t kEntries = RecordedBranches::kEntries;
        std::uint32_t at = ring.top;
        for (std::uint32_t i = 0; i <= std::min(count_, kEntries - 1); ++i) {
            const Noted& noted = newest_[(count_ - i) % kEntries];
            const bool is_before = i == count_;
            at = (at - 1) % kEntries;
            // The models take a branch to the next instruction for one that was not taken.
            while (!is_before && from(ring, at) != noted.from && leads_to_next(ring, at)) at = (at - 1) % kEntries;
            if (!is_before && from(ring, at) != noted.from) break;
            ring.to[at] += std::uint64_t{noted.after} << kMarkShift;
            if (!is_before && noted.mispredicted)
                ring.from[at] += std::uint64_t{RecordedBranches::kMispredicted} << kMarkShift;
        }
        count_ = 0;
        newest_[0].after = 0;
    }

  private:
    static constexpr unsigned kMarkShift = 8 * RecordedBranches::kMarkByte;

    struct Noted {
        std::uint64_t from = 0;
        bool mispredicted = false;
        std::uint8_t after = 0;  ///< how many mispredicted branches followed that were not taken
    };

    static std::uint64_t from(const RecordedBranches& ring, std::uint32_t at) {
        return RecordedBranches::address(ring.from[at]);
    }
    static bool leads_to_next(const RecordedBranches& ring, std::uint32_t at) {
        constexpr std::uint64_t kLongestBranch = 15;
        return RecordedBranches::address(ring.to[at]) - from(ring, at) - 1 < kLongestBranch;
    }

    Noted newest_[RecordedBranches::kEntries];  ///< entry 0 has only `after`: of the branch before the first one
    std::uint32_t count_ = 0;
};

}  // namespace anyperf::engine
