// counter_assignment.h: assigns a PMU's active events to its counters. An event may be restricted to some counters, so
// a new event may force others to move: this is bipartite matching. Only whether an
// assignment exists is ever used.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anyperf::subsystem {

/// The assignment of one PMU's counters (at most 64), filled group by group.
class CounterAssignment {
  public:
    /// Assigns all of these events, each to one counter in its mask, or none (false). A mask of 0 needs no counter.
    bool add(std::span<const std::uint64_t> masks);

  private:
    bool place(std::size_t event, std::uint64_t& visited);

    std::vector<std::uint64_t> masks_;  ///< by event, in order of arrival
    std::vector<int> event_on_ = std::vector<int>(64, -1);
};

}  // namespace anyperf::subsystem
