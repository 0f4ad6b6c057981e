// task_table.h: when a task enters World::tasks and when it leaves. It enters when the first event needs it and leaves
// when its thread ends. World::find_task() looks it up.
#pragma once

#include <cstdint>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Adds the task if it is new. A stale task with the same thread page ends first.
Task& find_or_add_task(World& world, const TaskId& name);

/// Reports the end, takes the task out of its events, and forgets it. `parent_pid`: of the process, for the EXIT
/// record.
void exited(World& world, const TaskId& task, std::int32_t parent_pid);

}  // namespace anyperf::subsystem
