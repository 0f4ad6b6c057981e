#include "subsystem/cpu_wide.h"

#include <algorithm>

#include "subsystem/child.h"

namespace anyperf::subsystem {
namespace {

Event* child_in(const Event& event, const Task& task) {
    const auto found = std::ranges::find(event.children, &task, &Event::task);
    return found == event.children.end() ? nullptr : *found;
}

void join(World& world, Event& event, Task& task) {
    Event* leader = event.leads() ? nullptr : child_in(*event.leader, task);
    if (event.leads() || leader) make_child(world, event, task, Kind::of_cpu, event, leader);
}

}  // namespace

void join_cpu(World& world, Event& event) {
    world.cpu_wide.push_back(&event);
    for (const TaskName& name : world.host.living_tasks()) join(world, event, world.task(name));
}

void join_cpus(World& world, Task& task) {
    for (Event* event : world.cpu_wide) join(world, *event, task);
}

}  // namespace anyperf::subsystem
