// task.h: a thread of the run as events see it: the groups that count it and the events that it has opened. Created
// when the first event needs it, kept until the thread ends.
#pragma once

#include <array>
#include <cstdint>
#include <list>

#include "subsystem/host.h"

namespace anyperf::subsystem {

struct Event;

/// A list, because a task may have thousands of events: an event remembers its position and leaves in constant time.
using EventList = std::list<Event*>;

struct Task {
    TaskId id;
    std::int32_t cpu = 0;
    EventList leaders;  ///< of the groups that count it, in the order in which they get counters
    EventList opened;   ///< by this task, siblings included

    std::uint64_t rotated_at = 0;      ///< its clock at the last rotation of its groups, ns
    std::uint32_t contenders = 0;      ///< events that need a counter or exclusive use of a PMU; 0: every group fits
    bool waits_for_counters = false;   ///< some group did not fit, so rotation is needed
    bool safepoint_requested = false;  ///< the task is in World::safepoint_requests

    // Its active events (active_events.h).
    Event* first_active = nullptr;
    Event* last_sampling = nullptr;
    Event* last_active = nullptr;
    std::array<std::uint32_t, 32> counter_users = {};  ///< how many events use each live counter
    std::uint32_t fault_events = 0;                    ///< how many events count page faults
};

}  // namespace anyperf::subsystem
