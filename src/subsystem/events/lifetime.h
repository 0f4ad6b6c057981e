// lifetime.h: how an event ends. It lives while it has a descriptor or a mapping; its task may end before, and its
// children end with it. Totals of children that end are kept in the parent.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The last descriptor is closed. The event ends unless a mapping is left.
void close_event(World& world, Event& event);
/// Ends the event and its children if it has neither a descriptor nor a mapping.
void end_if_unreferenced(World& world, Event& event);

/// The event's task ends, or removes the event (remove_on_exec). An opened event keeps its count and times, so that it
/// can be read; a child adds them to its parent's totals and is freed. Siblings leave with their leader, since without
/// it they can never count again.
void leave_task(World& world, Event& event);

}  // namespace anyperf::subsystem
