// world.h: everything the subsystem keeps, and the few ways to look things up in it. What is done with it stands in a
// file for each concern, as functions over it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "subsystem/event.h"
#include "subsystem/host.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/records/interests.h"
#include "subsystem/shared/page_count.h"
#include "subsystem/shared/page_lock.h"
#include "subsystem/task.h"

namespace anyperf::subsystem {

/// A ring that is mapped, and who writes to it: one event's own, and those redirected there.
struct RingRecord {
    std::vector<Event*> writers = {};
    std::uint32_t mappings = 0;
    std::uint32_t uid = 0;           ///< whose locked memory it is
    std::int32_t pid = 0;            ///< in which process, what is beyond the user's share
    std::uint64_t shared_pages = 0;  ///< charged to the user's share (perf_event_mlock_kb)
    std::uint64_t pinned_pages = 0;  ///< charged to the process (RLIMIT_MEMLOCK)
};

struct World {
    Host& host;
    std::vector<Pmu*> pmus;

    std::unordered_map<EventIndex, std::unique_ptr<Event>> events = {};
    std::map<std::uint32_t, std::unique_ptr<Task>> tasks = {};  ///< by thread page
    std::vector<Event*> cpu_wide = {};                          ///< opened ones, in order of creation
    std::unordered_map<RingIndex, RingRecord> rings = {};
    std::vector<Task*> changed = {};   ///< those with `attend`
    std::vector<Event*> holding = {};  ///< leaders whose groups are held
    std::size_t waiting_tasks = 0;     ///< those with `waits_for_counters`

    /// Events that live and want records of a kind, by Interest; and those that any_maps() holds for.
    std::array<std::size_t, kInterests.size()> wanting = {};
    std::size_t mapping_events = 0;
    std::uint32_t wanted = 0;   ///< those of `wanting` above 0, a bit each
    std::uint64_t last_id = 0;  ///< ids of events grow by one with each

    /// An event that a client has opened and not ended; null where the index names none.
    Event* opened(EventIndex index);
    /// Null where no event has ever asked for this task.
    Task* known(const TaskName& name);
    /// Makes it known.
    Task& task(const TaskName& name);
};

/// A page's lock, held by the subsystem for a scope.
class LockHeld {
  public:
    LockHeld(World& world, PageLock& lock)
        : held_(lock, world.host.lock_holder(), [&world](std::int32_t who) { return world.host.abandoned(who); }) {}

  private:
    PageHeld held_;
};

/// An event's page while nobody else changes it.
class Locked {
  public:
    Locked(World& world, Event& event) : page_(*event.page), held_(world, page_.lock) {}

    EventPage* operator->() { return &page_; }
    EventPage& operator*() { return page_; }

  private:
    EventPage& page_;
    LockHeld held_;
};

/// The value of the event's source, and its time, now.
std::uint64_t value_now(World& world, const Event& event);
std::uint64_t clock_now(World& world, const Event& event);

/// Some group of the task waits for counters, or none does.
void note_waiting(World& world, Task& task, bool waits);

/// The task has to look at its events.
void attend_later(World& world, Task& task);
/// Lets go of groups and tells the threads: the end of each call.
void settle(World& world);

}  // namespace anyperf::subsystem
