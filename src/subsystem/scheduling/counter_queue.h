// counter_queue.h: the groups of a task that want counters of one PMU, in the order in which they get them.
//
// A queue has the enabled groups only, and remembers which of them have counters and which is the first to wait. So a
// group that comes or goes after the first waiting one affects no other, and an open or close costs the same beside ten
// thousand waiting groups as beside ten.
//
// A task has queues while it has contenders (Task::contenders). Without them each group is placed by itself.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The ranks whose groups rotate (scheduler.h).
inline constexpr int kCpuWideFlexible = 2;
inline constexpr int kOwnFlexible = 3;

/// The hardware PMU that the group needs. Null for a group of software events only.
const Pmu* hardware_pmu(const Event& leader);

/// Gives the group a place after the task's other groups of its rank.
void take_last_place(Task& task, Event& leader);

/// Moves the group to the queue of its hardware PMU. A group that is not enabled, or needs no hardware PMU, leaves its
/// queue.
void update_queue(Task& task, Event& leader);
/// Removes the group from its queue, if it is in one.
void leave_queue(Event& leader);
/// A member has left the group, which may need less.
void note_smaller_group(Event& leader);

/// The task has got its first contender: makes its queues.
void make_queues(Task& task);
/// The task's last contender has gone: drops its queues.
void drop_queues(Task& task);

/// Whether the group waits because another one waits before it. A change of such a group affects no other.
bool waits_behind_others(const Event& leader);

}  // namespace anyperf::subsystem
