// task_life.h: what happens to a task's events when the task starts, execs or moves to another CPU. A task that no
// event counts is ignored. The end of a task is in task_table.h.
#pragma once

#include "subsystem/requests.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The task `parent` has made `child`: writes the FORK records, lets the child inherit, and adds its parts of cpu-wide
/// events.
void forked(World& world, const TaskId& parent, const TaskId& child, ForkKind kind);
/// An exec: applies enable_on_exec and remove_on_exec. `was` differs from `task` if a non-leader thread has become the
/// leader.
void executed(World& world, const TaskId& was, const TaskId& task);
/// The task is on another CPU: places all its groups anew.
void moved(World& world, const TaskId& task, std::int32_t cpu);

}  // namespace anyperf::subsystem
