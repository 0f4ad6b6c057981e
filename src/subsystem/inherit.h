// inherit.h: what a new task takes over from the one that made it (attr.inherit, inherit_thread; inherit_task_group and
// inherit_event of Linux 6.18): each group of its parent as a group of children.
#pragma once

#include "subsystem/subsystem.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

void inherit(World& world, const Task& parent, Task& child, ForkKind kind);

}  // namespace anyperf::subsystem
