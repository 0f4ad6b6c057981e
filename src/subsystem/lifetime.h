// lifetime.h: how an event ends: its descriptor and mappings go, its task goes, its parent goes.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Its last descriptor is closed: it ends unless a mapping holds it.
void close_event(World& world, Event& event);
/// Neither a descriptor nor a mapping is left: it ends, and its children with it.
void end_if_unheld(World& world, Event& event);

/// The event leaves its task and goes no further; its count and times stay to be read. A child gives them to its
/// parent and is no more. Siblings of a leader leave with it: without it they never count again.
void leave_task(World& world, Event& event);

}  // namespace anyperf::subsystem
