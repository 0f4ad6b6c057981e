#include "subsystem/task_life.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "abi/attr_flags.h"
#include "subsystem/armed_list.h"
#include "subsystem/control.h"
#include "subsystem/cpu_wide.h"
#include "subsystem/inherit.h"
#include "subsystem/lifetime.h"
#include "subsystem/scheduler.h"
#include "subsystem/side_band.h"

namespace anyperf::subsystem {
namespace {

std::vector<Event*> events_of(const Task& task) {
    std::vector<Event*> all;
    for (const Event* leader : task.leaders) {
        const auto group = members(*leader);
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

/// perf_event_enable_on_exec: each that waits for it, once.
void enable_waiting(World& world, Task& task) {
    for (Event* event : events_of(task)) {
        if (!event->flag(abi::flag("enable_on_exec"))) continue;
        event->attr.flags &= ~abi::flag("enable_on_exec");
        enable_alone(world, *event);
    }
}

/// perf_event_remove_on_exec.
void remove(World& world, Task& task) {
    for (Event* event : events_of(task))
        if (event->task == &task && event->flag(abi::flag("remove_on_exec"))) leave_task(world, *event);
}

void rename(World& world, Task& task, const TaskName& name) {
    world.host.arm(task.name, {});
    auto node = world.tasks.extract(task.name.thread_page);
    task.name = name;
    node.key() = name.thread_page;
    world.tasks.insert(std::move(node));
    for (Event* event : events_of(task)) Locked(world, *event)->thread_page = name.thread_page;
    tell_armed(world, task);
}

}  // namespace

void forked(World& world, const TaskName& parent, const TaskName& child, ForkKind kind) {
    const Task* maker = world.known(parent);
    if ((!maker || maker->leaders.empty()) && world.cpu_wide.empty()) return;
    if (Task* teller = maker ? world.known(parent) : nullptr) tell_fork(world, *teller, child);
    Task& task = world.task(child);
    if (maker) inherit(world, *maker, task, kind);
    join_cpus(world, task);
}

void executed(World& world, const TaskName& was, const TaskName& name) {
    Task* task = world.known(was);
    if (!task) return;
    if (was != name) rename(world, *task, name);
    enable_waiting(world, *task);
    remove(world, *task);
}

void exited(World& world, const TaskName& name, std::int32_t parent_pid) {
    Task* task = world.known(name);
    if (!task) return;
    tell_exit(world, *task, parent_pid);
    // The newest first, as the kernel has them in its list: a READ record of a group then has its leader still.
    for (Event* event : events_of(*task) | std::views::reverse)
        if (event->task == task) leave_task(world, *event);
    for (Event* event : task->opened) event->opener = nullptr;
    note_waiting(world, *task, false);
    std::erase(world.changed, task);
    world.host.arm(name, {});
    world.tasks.erase(name.thread_page);
}

void moved(World& world, const TaskName& name, std::int32_t cpu) {
    Task* task = world.known(name);
    if (!task || task->cpu == cpu) return;
    task->cpu = cpu;
    place_all(world, *task);
}

}  // namespace anyperf::subsystem
