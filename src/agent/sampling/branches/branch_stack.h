// branch_stack.h: PERF_SAMPLE_BRANCH_STACK: which branches an event wants recorded, and the entries of one sample.
// Translated code records the taken branches of user mode. None lies in a transaction. An event without NO_FLAGS starts
// the models of branch predictors (Source::needs_predictions), so its entries say what was mispredicted.
#pragma once

#include <array>

#include "agent/process.h"
#include "subsystem/shared/sample.h"

namespace anyperf::agent {

inline constexpr std::size_t kBranchEntries = 32;  ///< of a sample, at most; the PMU's caps/branches

using BranchStack = std::array<subsystem::BranchEntry, kBranchEntries>;

/// The kinds of branches (namespace engine::branch, engine/instrumentation/state.h) that samples of the event need. 0:
/// its samples have no branch stack, or one that is always empty.
std::uint8_t branch_kinds_for(const EventPage& event);

/// Fills `out` with the newest branches that pass the event's filter, newest first. Returns how many.
std::size_t gather_branches(const engine::Thread& thread, const EventPage& event, BranchStack& out);

}  // namespace anyperf::agent
