// branch_stack.h: PERF_SAMPLE_BRANCH_STACK: which branches an event wants recorded, and those of a sample.
#pragma once

#include <array>

#include "resident/process.h"
#include "subsystem/shared/sample.h"

namespace anyperf::resident {

inline constexpr std::size_t kBranchEntries = 32;  ///< of a sample, at most: caps/branches

using BranchStack = std::array<subsystem::BranchEntry, kBranchEntries>;

/// Kinds (engine/watches.h) that samples of the event need; 0: it has no branch stack, or one that stays empty.
std::uint8_t recorded_for(const EventPage& event);

/// The newest branches that the event's filter lets through, newest first. Returns how many.
std::size_t gather_branches(const engine::Thread& thread, const EventPage& event, BranchStack& out);

}  // namespace anyperf::resident
