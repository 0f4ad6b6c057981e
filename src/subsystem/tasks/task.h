// task.h: a thread of the run as the subsystem sees it: the groups that count it and the events that it has opened. It
// is created when the first event needs it, and kept until the thread ends.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "subsystem/host.h"

namespace anyperf::subsystem {

struct Event;
class Pmu;

/// A list, because a task may have thousands of events: an event remembers its position and leaves in constant time.
using EventList = std::list<Event*>;

/// A group's place in the order in which groups get counters.
struct QueuePlace {
    int rank = 0;              ///< 0 to 3, the four ranks of scheduler.h
    std::uint64_t number = 0;  ///< ascending; a group that rotates gets a new one
    auto operator<=>(const QueuePlace&) const = default;
};

/// The groups of a task that want counters of one PMU (scheduling/counter_queue.h).
struct CounterQueue {
    std::map<QueuePlace, Event*> groups;  ///< leaders of the enabled ones
    std::vector<Event*> placed;           ///< those that have counters, in order
    Event* first_waiting = nullptr;       ///< the first flexible one that did not fit; all flexible ones after it wait
    bool is_stale = false;                ///< the groups must be placed anew (counter_queue.cpp)
};

struct Task {
    TaskId id;
    std::int32_t cpu = 0;
    EventList leaders;  ///< of the groups that count it; within a rank, in the order in which they get counters
    EventList opened;   ///< by this task, siblings included

    std::map<const Pmu*, CounterQueue> queues;  ///< while `contenders` is not 0
    std::uint64_t last_queue_number = 0;

    std::uint64_t rotated_at = 0;      ///< the task's clock at the last rotation of its groups, ns
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
