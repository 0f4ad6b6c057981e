// world.cpp: look-ups by names that come from outside, and values at this moment. A name may be stale: an event that
// has been closed, a thread page that belongs to another thread since. So a look-up compares the whole name, and
// finding nothing is not an error here.
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

// An event without a task is cpu-wide, or its task has ended. Of these only a clock of a CPU has a value.
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
    // end_call() (subsystem.cpp) makes the request once for each task, when the thread finds all changes made and no
    // lock held.
    if (!task.safepoint_requested) world.safepoint_requests.push_back(&task);
    task.safepoint_requested = true;
}

}  // namespace anyperf::subsystem
