// cpu_wide.cpp: events of all tasks on a CPU. There is no CPU in a run whose counters could be read, so such an event
// has a part in each task, which counts while the task is on that CPU.
#include "subsystem/scheduling/cpu_wide.h"

#include <algorithm>

#include "subsystem/events/child_event.h"
#include "subsystem/tasks/task_table.h"

namespace anyperf::subsystem {
namespace {

Event* child_in(const Event& event, const Task& task) {
    const auto found = std::ranges::find(event.children, &task, &Event::task);
    return found == event.children.end() ? nullptr : *found;
}

/// Adds the event's part in a task. A sibling's part needs its leader's part; without that it is not made.
void join(World& world, Event& event, Task& task) {
    Event* leader = event.is_leader() ? nullptr : child_in(*event.leader, task);
    if (event.is_leader() || leader) make_child(world, event, task, Kind::cpu_wide_part, event, leader);
}

}  // namespace

void add_cpu_wide_event(World& world, Event& event) {
    world.cpu_wide.push_back(&event);
    for (const TaskId& name : world.host.living_tasks()) join(world, event, find_or_add_task(world, name));
}

void join_cpu_wide_events(World& world, Task& task) {
    for (Event* event : world.cpu_wide) join(world, *event, task);
}

}  // namespace anyperf::subsystem
