// scheduler.h: which groups of a task count. A group is placed as a whole or not at all; those that need counters, or a
// PMU for themselves, are placed one after the other as the kernel does it (kernel/events/core.c of Linux 6.18,
// ctx_sched_in): cpu-wide before the task's own, pinned before flexible, and after the first flexible group that does
// not fit no further one is tried. The counters are those of the CPU that the task runs on, so each task has them all.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The task is where the group is to count it: its CPU, its cgroup.
bool on_its_cpu(World& world, const Event& leader);

/// The group counts the task from now on, behind the others.
void join_leaders(Task& task, Event& leader);

/// The event joins its leader's group, and the group its task; it is placed.
void attach(World& world, Event& event);
/// The opposite; the event is no member of a group any more. The rest of its group stands as it is.
void detach(World& world, Event& event);

/// The event has left its task for good and stays what it is in its group, to be read.
void leave(World& world, Event& event);

/// Gives the group the states that its members' wishes, the task's CPU and the counters allow.
void place_group(World& world, Event& leader);
/// All groups of the task: it has moved, or counters have become free.
void place_all(World& world, Task& task);
/// Where groups wait and the task has run for so long since the last time (ns): those that have counters give them up.
void rotate_when_due(World& world, Task& task, std::uint64_t interval);

}  // namespace anyperf::subsystem
