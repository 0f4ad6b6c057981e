// task_life.cpp: the steps of the kernel's fork and exec that concern events. Their order is visible in records and
// counts. The FORK record is written before the child has events, because only the parent's events report it. At an
// exec events are enabled before others are removed, as in perf_event_exec().
#include "subsystem/tasks/task_life.h"

#include <utility>

#include "abi/attr_flags.h"
#include "subsystem/control.h"
#include "subsystem/events/inherit.h"
#include "subsystem/events/lifetime.h"
#include "subsystem/output/side_band.h"
#include "subsystem/scheduling/active_events.h"
#include "subsystem/scheduling/cpu_wide.h"
#include "subsystem/scheduling/scheduler.h"
#include "subsystem/tasks/task_table.h"

namespace anyperf::subsystem {
namespace {

/// perf_event_enable_on_exec().
void enable_waiting(World& world, Task& task) {
    for (Event* event : events_of(task)) {
        if (!event->flag(abi::flag("enable_on_exec"))) continue;
        // The flag is used up: the next exec does not enable the event again.
        event->attr.flags &= ~abi::flag("enable_on_exec");
        enable_alone(world, *event);
    }
}

/// perf_event_remove_on_exec().
void remove(World& world, Task& task) {
    for (Event* event : events_of(task))
        if (event->task == &task && event->flag(abi::flag("remove_on_exec"))) leave_task(world, *event);
}

/// An exec of a thread other than the leader: it gets the leader's id, and another thread page. Its events go with it.
void rename(World& world, Task& task, const TaskId& name) {
    world.host.set_active_events(task.id, {});
    // Only the key changes: events point to the Task.
    auto node = world.tasks.extract(task.id.thread_page);
    task.id = name;
    node.key() = name.thread_page;
    world.tasks.insert(std::move(node));
    for (Event* event : events_of(task)) LockedPage(world, *event)->thread_page = name.thread_page;
    report_active_events(world, task);
}

}  // namespace

// Most forks concern no event. Then no task is made, and the call costs one lookup.
void forked(World& world, const TaskId& parent, const TaskId& child, ForkKind kind) {
    // A cpu-wide event needs a part in the child, so a fork concerns it whatever the parent has.
    const Task* parent_task = world.find_task(parent);
    if ((!parent_task || parent_task->leaders.empty()) && world.cpu_wide.empty()) return;
    if (Task* reporter = parent_task ? world.find_task(parent) : nullptr) report_fork(world, *reporter, child);
    Task& task = find_or_add_task(world, child);
    if (parent_task) inherit(world, *parent_task, task, kind);
    join_cpu_wide_events(world, task);
}

void executed(World& world, const TaskId& was, const TaskId& name) {
    Task* task = world.find_task(was);
    if (!task) return;
    if (was != name) rename(world, *task, name);
    enable_waiting(world, *task);
    remove(world, *task);
}

// Groups that are bound to one of the two CPUs, and parts of cpu-wide events, start or stop.
void moved(World& world, const TaskId& name, std::int32_t cpu) {
    Task* task = world.find_task(name);
    if (!task || task->cpu == cpu) return;
    task->cpu = cpu;
    place_all(world, *task);
}

}  // namespace anyperf::subsystem
