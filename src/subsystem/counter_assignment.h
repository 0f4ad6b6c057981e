// counter_assignment.h: which counters of a PMU its active events stand on. An event may stand on some of them only, so
// one that comes later may make others move: a matching.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anyperf::subsystem {

/// The counters of one PMU while events are put on them, one after the other.
class CounterAssignment {
  public:
    /// Puts all of these on, each on one counter of its mask, or none: false. A mask of 0 needs no counter.
    bool add(std::span<const std::uint64_t> masks);

  private:
    bool place(std::size_t event, std::uint64_t& visited);

    std::vector<std::uint64_t> masks_;  ///< by event
    std::vector<int> event_on_ = std::vector<int>(64, -1);
};

}  // namespace anyperf::subsystem
