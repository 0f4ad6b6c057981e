// event_state.h: one event's change of state: its page, its PMU and what its thread knows, always together.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Nothing happens where that is its state already.
void set_state(World& world, Event& event, EventState state);

/// Takes notice of what the event's own thread has made of it: a REFRESH that has run out, or a switch that concerns
/// nobody else. Its PMU is told. True if there was anything.
bool notice_switched(World& world, Event& event);

}  // namespace anyperf::subsystem
