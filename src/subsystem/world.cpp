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

bool is_clock(const Source& source) {
    return source.kind == Source::Kind::task_clock || source.kind == Source::Kind::cpu_clock;
}

}  // namespace

std::uint64_t value_now(World& world, const Event& event) {
    if (!counts_itself(*event.page)) return 0;
    if (event.task) {
        const std::uint64_t now = world.host.value(event.task->name, event.wiring.source);
        const bool behind = is_clock(event.wiring.source) && static_cast<std::int64_t>(now - event.page->start) < 0;
        return behind ? event.page->start : now;  // as clock_now()
    }
    return event.wiring.counts_cpu ? world.host.clock(CLOCK_MONOTONIC) : 0;
}

std::uint64_t clock_now(World& world, const Event& event) {
    if (!event.task) return world.host.clock(CLOCK_MONOTONIC);
    // The thread may have switched it itself, by a clock that is ahead of what is known of the thread from outside.
    const std::uint64_t now = world.host.task_clock(event.task->name);
    return static_cast<std::int64_t>(now - event.page->time_start) < 0 ? event.page->time_start : now;
}

void attend_later(World& world, Task& task) {
    if (!task.attend) world.changed.push_back(&task);
    task.attend = true;
}

void settle(World& world) {
    let_go(world);
    for (Task* task : world.changed) {
        task->attend = false;
        world.host.attend(task->name);
    }
    world.changed.clear();
}

}  // namespace anyperf::subsystem
