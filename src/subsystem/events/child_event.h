// child_event.h: creates child events. A child counts one task for an opened event: by inheritance, or as one task's
// part of a cpu-wide event. It has its parent's id, and its own stream id, page, period and times.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Creates a child of the opened event `parent` in this task. It is enabled if `like` is; it joins the group of
/// `leader`, or leads a group of its own if `leader` is null. Returns null if the PMU refuses the child or there is no
/// room for a page: the task is then not counted.
Event* make_child(World& world, Event& parent, Task& task, Kind kind, const Event& like, Event* leader);

}  // namespace anyperf::subsystem
