#include "subsystem/tasks/task_table.h"

#include <algorithm>
#include <ranges>

#include "subsystem/events/lifetime.h"
#include "subsystem/output/side_band.h"

namespace anyperf::subsystem {

// A task is made when an event first needs it, so the subsystem knows only tasks that events count or that have opened
// events.
Task& find_or_add_task(World& world, const TaskId& name) {
    if (Task* already = world.find_task(name)) return *already;
    // The page's previous thread has ended, but its end was not reported.
    if (const auto stale = world.tasks.find(name.thread_page); stale != world.tasks.end())
        exited(world, TaskId(stale->second->id), 0);
    auto made = std::make_unique<Task>();
    made->id = name;
    made->cpu = world.host.cpu(name);
    return *(world.tasks[name.thread_page] = std::move(made));
}

void exited(World& world, const TaskId& name, std::int32_t parent_pid) {
    Task* task = world.find_task(name);
    if (!task) return;
    report_exit(world, *task, parent_pid);
    // The newest first, as in the kernel's list: the READ record of a group then still finds its leader.
    for (Event* event : events_of(*task) | std::views::reverse)
        if (event->task == task) leave_task(world, *event);
    for (Event* event : task->opened) event->opener = nullptr;
    note_waiting(world, *task, false);
    std::erase(world.safepoint_requests, task);
    world.host.set_active_events(name, {});
    world.tasks.erase(name.thread_page);
}

}  // namespace anyperf::subsystem
