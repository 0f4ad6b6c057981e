// task.h: a thread of the run as far as events know it: those that count it, and those that it has opened. Made when
// the first event needs it, kept until it ends.
#pragma once

#include <array>
#include <cstdint>
#include <list>

#include "subsystem/host.h"

namespace anyperf::subsystem {

struct Event;

/// In an order. Who leaves is found by its place (Event): a task may have thousands.
using EventList = std::list<Event*>;

struct Task {
    TaskName name;
    std::int32_t cpu = 0;
    EventList leaders;  ///< of the groups that count it, in the order in which they get counters
    EventList opened;   ///< by it, siblings too

    std::uint64_t rotated_at = 0;     ///< its clock when its groups last changed places
    std::uint32_t contenders = 0;     ///< events that need counters or a PMU for themselves; 0: every group fits
    bool waits_for_counters = false;  ///< some group did not fit: rotation makes sense
    bool attend = false;              ///< it has to look at its events before the call ends

    // Its armed list (armed_list.h).
    Event* first_armed = nullptr;
    Event* last_sampling = nullptr;
    Event* last_armed = nullptr;
    std::array<std::uint32_t, 32> counted = {};  ///< events that need each of the thread's live counters
    std::uint32_t faulting = 0;                  ///< events that count page faults
};

}  // namespace anyperf::subsystem
