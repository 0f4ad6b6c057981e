// group_hold.h: an event's own thread may switch its group without asking (shared/own_switch.h). Whoever in the
// subsystem looks at what a group's events are told to be, in order to change something, holds the group from there to
// the end of the call: in between no thread switches it.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Holds the event's group until the call ends; nothing where it is held already.
void hold(World& world, Event& event);

/// The leader is about to be no more.
void let_go(World& world, Event& leader);
/// All: the call ends.
void let_go(World& world);

}  // namespace anyperf::subsystem
