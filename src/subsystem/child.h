// child.h: an event that counts one task for the event that was opened: by inheritance, or as the task's part of a
// cpu-wide event. Its id is its parent's, its stream id, page, period and times are its own.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// A child of the opened event `parent` in this task, told to be what `like` is told to be, as a sibling of `leader` or
/// as a leader (null). Null where the PMU or the host has no room for it: then the task is not counted there.
Event* make_child(World& world, Event& parent, Task& task, Kind kind, const Event& like, Event* leader);

}  // namespace anyperf::subsystem
