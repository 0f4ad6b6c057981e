// scheduler.h: which groups of a task count, as in kernel/events/core.c of Linux 6.18 (ctx_sched_in()).
//
// The rules. A group gets its counters as a whole or not at all. Groups get counters in four ranks: cpu-wide pinned,
// the task's own pinned, cpu-wide flexible, the task's own flexible. A pinned group that does not fit goes into error
// state. After the first flexible group that does not fit, no further flexible group of that PMU is tried, even if it
// would fit. An exclusive group does not share its PMU. Software events need nothing and always count.
//
// Rotation. Every perf_event_mux_interval_ms of a task's run time, the first counting flexible group (of the cpu-wide
// ones and of the task's own) moves to the end of its list (ctx_event_to_rotate()), and the groups are placed anew.
//
// Time. An event's time enabled grows while it and its leader are enabled; its time running grows while it counts. The
// difference is the time for which it waited for a counter, or for its task to come to its CPU; readers scale counts by
// it. The base is the task's own clock, which stops while the task does not run.
//
// The counters are those of the CPU that the task runs on, so each task has all of them to itself; tasks never compete.
// Where no event of a task needs counters (Task::contenders is 0) each group is placed by itself, and its thread may
// toggle it without a request (shared/local_toggle.h).
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Whether the task is on the group's CPU and in its cgroup, so that the group may count it.
bool is_on_cpu(World& world, const Event& leader);

/// Adds the group to the task's groups, at the end.
void join_leaders(Task& task, Event& leader);

/// Adds the event to its leader's group, and a leader's group to its task, and places the group.
void attach(World& world, Event& event);
/// Removes the event from its task and group. The states of the other members do not change.
void detach(World& world, Event& event);

/// Removes the event from its task for good. It stays in its group, so that it can be read.
void detach_from_task(World& world, Event& event);

/// Gives each member the state that follows from its requested state, the task's CPU and the free counters.
void place_group(World& world, Event& leader);
/// Places all groups of the task, which has moved to another CPU or cgroup.
void place_all(World& world, Task& task);
/// An event has left the task: others may get its counters.
void use_free_counters(World& world, Task& task);
/// Rotates the task's groups if some wait for counters and the task has run for `interval` ns since the last rotation.
void rotate_when_due(World& world, Task& task, std::uint64_t interval);

}  // namespace anyperf::subsystem
