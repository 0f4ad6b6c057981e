// task_table.h: when a task enters World::tasks and when it leaves. It enters when the first event needs it and leaves
// when its thread ends. World::find_task() looks it up.
#pragma once

#include <cstdint>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The task of this name, which is added if it is new. A stale task with the same thread page ends first.
Task& find_or_add_task(World& world, const TaskId& name);

/// Writes the EXIT records, makes the events leave the task, and forgets the task. `parent_pid`: the pid of the
/// process's parent.
void exited(World& world, const TaskId& task, std::int32_t parent_pid);

}  // namespace anyperf::subsystem
