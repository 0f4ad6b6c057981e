#include "subsystem/scheduling/counter_assignment.h"

#include <bit>

namespace anyperf::subsystem {

// Adds all masks or none. An event may move to another counter to make room, so an assignment is found whenever there
// is one. (The kernel solves the same problem by weights: perf_assign_events().)
bool CounterAssignment::add(std::span<const std::uint64_t> masks) {
    const auto events_before = masks_;
    const auto counters_before = event_on_;
    for (const std::uint64_t mask : masks) {
        if (mask == 0) continue;
        masks_.push_back(mask);
        std::uint64_t visited = 0;
        if (place(masks_.size() - 1, visited)) continue;
        masks_ = events_before;
        event_on_ = counters_before;
        return false;
    }
    return true;
}

/// Kuhn's augmenting path: an event takes a counter from another event if that one finds another counter.
bool CounterAssignment::place(std::size_t event,
                              std::uint64_t& visited) {  // NOLINT(misc-no-recursion): 64 deep at most
    for (std::uint64_t open = masks_[event] & ~visited; open != 0; open = masks_[event] & ~visited) {
        const auto counter = static_cast<std::size_t>(std::countr_zero(open));
        visited |= 1ull << counter;
        if (event_on_[counter] >= 0 && !place(static_cast<std::size_t>(event_on_[counter]), visited)) continue;
        event_on_[counter] = static_cast<int>(event);
        return true;
    }
    return false;
}

}  // namespace anyperf::subsystem
