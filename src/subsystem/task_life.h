// task_life.h: what becomes of a task's events when it starts, execs, moves to another CPU, ends.
#pragma once

#include "subsystem/subsystem.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

void forked(World& world, const TaskName& parent, const TaskName& child, ForkKind kind);
void executed(World& world, const TaskName& was, const TaskName& task);
void exited(World& world, const TaskName& task, std::int32_t parent_pid);
void moved(World& world, const TaskName& task, std::int32_t cpu);

}  // namespace anyperf::subsystem
