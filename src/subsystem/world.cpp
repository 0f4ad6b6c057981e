// world.cpp: look-ups by names that come from outside, and values at this moment. A name may be old: an event that has
// been closed, a thread page that another thread has now. So a look-up compares the whole name, and finding nothing is
// no error here.
#include "subsystem/world.h"

#include <ctime>

namespace anyperf::subsystem {

Event* World::find_opened(EventIndex index) {
    const auto found = events.find(index);
    return found != events.end() && found->second->kind == Kind::opened ? found->second.get() : nullptr;
}

Task* World::find_task(const TaskId& name) {
    const auto found = tasks.find(name.thread_page);
    return found != tasks.end() && found->second->id == name ? found->second.get() : nullptr;
}

namespace {

/// The event's own thread may have changed the event at a later clock value than the one that the subsystem sees from
/// outside. Without this the difference would wrap around.
std::uint64_t not_behind(std::uint64_t now, std::uint64_t start) {
    return static_cast<std::int64_t>(now - start) < 0 ? start : now;
}

}  // namespace

// An opened cpu-wide event has no task of its own; only the clocks of a CPU have a value then.
std::uint64_t value_now(World& world, const Event& event) {
    if (!has_value(event.source())) return 0;
    if (event.task) return not_behind(world.host.value(event.task->id, event.wiring.source), event.page->start);
    return event.wiring.counts_cpu ? world.host.clock(CLOCK_MONOTONIC) : 0;
}

std::uint64_t clock_now(World& world, const Event& event) {
    if (!event.task) return world.host.clock(CLOCK_MONOTONIC);
    return not_behind(world.host.task_clock(event.task->id), event.page->time_start);
}

void note_waiting(World& world, Task& task, bool waits) {
    world.waiting_tasks += static_cast<std::size_t>(waits) - static_cast<std::size_t>(task.waits_for_counters);
    task.waits_for_counters = waits;
}

void request_safepoint_later(World& world, Task& task) {
    // Once a call, at its end (subsystem.cpp), when the thread finds all changes and no lock held.
    if (!task.safepoint_requested) world.safepoint_requests.push_back(&task);
    task.safepoint_requested = true;
}

}  // namespace anyperf::subsystem
