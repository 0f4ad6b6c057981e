// counter_assignment.h: whether the counters of a PMU suffice for a set of events. An event may be restricted to some
// counters, so a new event may force others to move: this is bipartite matching. Callers use only whether an assignment
// exists: a run's counters hold no value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anyperf::subsystem {

/// The assignment of one PMU's counters (at most 64), filled group by group.
class CounterAssignment {
  public:
    /// Adds one event for each mask: bit i means that counter i can count it. False if there is no assignment for all
    /// events together; nothing changes then. An event with mask 0 needs no counter.
    bool add(std::span<const std::uint64_t> masks);

  private:
    bool place(std::size_t event, std::uint64_t& visited);

    // An event is its index in masks_.
    std::vector<std::uint64_t> masks_;                      ///< in the order in which the events were added
    std::vector<int> event_on_ = std::vector<int>(64, -1);  ///< by counter; -1: no event is on it
};

}  // namespace anyperf::subsystem
