// inherit.h: what a new task inherits: for each group of its parent that has attr.inherit, a group of child events of
// the opened events. Follows inherit_task_group() and inherit_event() of Linux 6.18, with inherit_thread (only to
// threads) and sigtrap (not to a process with CLONE_CLEAR_SIGHAND). A child's child is a child of the opened event,
// too.
#pragma once

#include "subsystem/requests.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Creates the child task's events. A group whose leader can't be created is left out.
void inherit(World& world, const Task& parent, Task& child, ForkKind kind);

}  // namespace anyperf::subsystem
