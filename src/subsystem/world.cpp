#include "subsystem/world.h"

#include <ctime>

#include "subsystem/group_hold.h"
#include "subsystem/task_life.h"

namespace anyperf::subsystem {

Event* World::opened(EventIndex index) {
    const auto found = events.find(index);
    return found != events.end() && found->second->kind == Kind::opened ? found->second.get() : nullptr;
}

Task* World::known(const TaskName& name) {
    const auto found = tasks.find(name.thread_page);
    return found != tasks.end() && found->second->name == name ? found->second.get() : nullptr;
}

Task& World::task(const TaskName& name) {
    if (Task* already = known(name)) return *already;
    // Whoever had the page before has ended, and nobody has said so.
    if (const auto stale = tasks.find(name.thread_page); stale != tasks.end())
        exited(*this, TaskName(stale->second->name), 0);
    auto made = std::make_unique<Task>();
    made->name = name;
    made->cpu = host.cpu(name);
    return *(tasks[name.thread_page] = std::move(made));
}

namespace {

/// The thread may have switched the event itself, ahead of the moment at which it was looked at from outside.
std::uint64_t not_behind(std::uint64_t now, std::uint64_t start) {
    return static_cast<std::int64_t>(now - start) < 0 ? start : now;
}

}  // namespace

std::uint64_t value_now(World& world, const Event& event) {
    if (!counts_itself(*event.page)) return 0;
    if (event.task) return not_behind(world.host.value(event.task->name, event.wiring.source), event.page->start);
    return event.wiring.counts_cpu ? world.host.clock(CLOCK_MONOTONIC) : 0;
}

std::uint64_t clock_now(World& world, const Event& event) {
    if (!event.task) return world.host.clock(CLOCK_MONOTONIC);
    return not_behind(world.host.task_clock(event.task->name), event.page->time_start);
}

void note_waiting(World& world, Task& task, bool waits) {
    world.waiting_tasks += static_cast<std::size_t>(waits) - static_cast<std::size_t>(task.waits_for_counters);
    task.waits_for_counters = waits;
}

void attend_later(World& world, Task& task) {
    if (!task.attend) world.changed.push_back(&task);
    task.attend = true;
}

void settle(World& world) {
    world.host.moment_over();
    let_go(world);
    for (Task* task : world.changed) {
        task->attend = false;
        world.host.attend(task->name);
    }
    world.changed.clear();
}

}  // namespace anyperf::subsystem
