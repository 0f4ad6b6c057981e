// world.h: the subsystem's state, its lookups, and its locks. Each concern has a file of functions over this state.
//
// A call into the subsystem locks pages one by one, and groups until the call ends (events/group_lock.h). Order of
// locks: a group's, an event page's, a ring's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "subsystem/events/event.h"
#include "subsystem/host.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/records/record_interests.h"
#include "subsystem/shared/page_lock.h"
#include "subsystem/shared/page_values.h"
#include "subsystem/tasks/task.h"

namespace anyperf::subsystem {

/// A mapped ring. Its writers are the opened events that write to it: the one that it was mapped for, and those that
/// were redirected to it.
struct RingRecord {
    std::vector<Event*> writers = {};
    std::uint32_t mappings = 0;
    std::uint32_t uid = 0;           ///< the user who pays for it
    std::int32_t pid = 0;            ///< the process that pays for what exceeds the user's share
    std::uint64_t shared_pages = 0;  ///< charged to the user (perf_event_mlock_kb)
    std::uint64_t pinned_pages = 0;  ///< charged to the process (RLIMIT_MEMLOCK)
};

struct World {
    Host& host;
    std::vector<Pmu*> pmus;

    std::unordered_map<EventIndex, std::unique_ptr<Event>> events = {};
    std::map<std::uint32_t, std::unique_ptr<Task>> tasks = {};  ///< by number of the thread page
    std::vector<Event*> cpu_wide = {};                          ///< opened cpu-wide events, in order of creation
    std::unordered_map<RingIndex, RingRecord> rings = {};
    std::vector<Task*> safepoint_requests = {};  ///< tasks with `safepoint_requested`, served when the call ends
    std::vector<Event*> locked_groups = {};      ///< leaders with `group_locked`, unlocked when the call ends
    std::size_t waiting_tasks = 0;               ///< how many tasks have `waits_for_counters`

    /// How many living events want records of a kind, by Interest; and for how many enables_mapping_records() holds.
    std::array<std::size_t, kInterests.size()> record_requests = {};
    std::size_t mapping_events = 0;
    std::size_t cgroup_events = 0;     ///< with PERF_FLAG_PID_CGROUP, their parts included
    std::size_t switch_events = 0;     ///< that count context switches, children included
    std::uint32_t wanted_records = 0;  ///< bit i is set while record_requests[i] is not 0
    std::uint64_t last_id = 0;         ///< ids are given out in ascending order, one to each event

    /// The event with this index, if a client has opened it and it still lives; null otherwise, also for children.
    Event* find_opened(EventIndex index);
    /// Null if no event has needed this task yet.
    Task* find_task(const TaskId& name);
};

/// Holds a lock in shared memory for the subsystem, for a scope.
class SubsystemLock {
  public:
    SubsystemLock(World& world, PageLock& lock)
        : held_(lock, world.host.lock_holder(),
                [&world](std::int32_t holder) { return world.host.is_abandoned(holder); }) {}

  private:
    ScopedPageLock held_;
};

/// Holds a ring's lock for a scope. Unlike an event's lock, a ring's is not taken over from a holder that lives,
/// because that holder would go on writing its record. False: the lock is not held.
class RingLock {
  public:
    RingLock(World& world, PageLock& lock) : lock_(lock), me_(world.host.lock_holder()) {
        held_ = lock_page_or_give_up(lock, me_, [&world](std::int32_t holder) {
            if (!world.host.is_abandoned(holder)) return HolderState::lives;
            return world.host.is_out_of_patience() ? HolderState::too_slow : HolderState::gone;
        });
    }
    ~RingLock() {
        if (held_) unlock_page(lock_, me_);
    }
    RingLock(const RingLock&) = delete;
    RingLock& operator=(const RingLock&) = delete;

    explicit operator bool() const { return held_; }

  private:
    PageLock& lock_;
    std::int32_t me_;
    bool held_ = false;
};

/// Locks an event's page for a scope and gives access to it.
class LockedPage {
  public:
    LockedPage(World& world, Event& event) : page_(*event.page), held_(world, page_.lock) {}

    EventPage* operator->() { return &page_; }
    EventPage& operator*() { return page_; }

  private:
    EventPage& page_;
    SubsystemLock held_;
};

/// The current value of the event's source, never below what the page records; 0 for a source without a value.
std::uint64_t value_now(World& world, const Event& event);
/// The event's clock in ns: its task's run time, never below what the page records; CLOCK_MONOTONIC for an event
/// without a task.
std::uint64_t clock_now(World& world, const Event& event);

/// Records whether some group of the task waits for counters.
void note_waiting(World& world, Task& task, bool waits);

/// Requests a safepoint of the task when the current call ends: one, however often this is called.
void request_safepoint_later(World& world, Task& task);

}  // namespace anyperf::subsystem
