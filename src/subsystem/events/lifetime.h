// lifetime.h: how an event ends. An opened event lives while it has a descriptor or a mapping; its task may end
// earlier. A child ends with its task or with its parent. The parent keeps the totals of children whose task has ended.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The last descriptor is closed. The event ends unless a mapping is left.
void close_event(World& world, Event& event);
/// Ends the event and its children if it has neither a descriptor nor a mapping.
void end_if_unreferenced(World& world, Event& event);

/// The event's task ends, or removes the event (remove_on_exec). An opened event keeps its count and times, so that it
/// can be read; a child adds them to its parent's totals and is freed. Siblings leave the task with their leader, since
/// without it they can never count again.
void leave_task(World& world, Event& event);

}  // namespace anyperf::subsystem
