// event_state.h: one event's change of state: its page, its PMU and its thread's armed list, always together.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Nothing happens where that is its state already.
void set_state(World& world, Event& event, EventState state);

/// Takes notice of a REFRESH that has run out in the event's own thread: it is off then. True if it had.
bool notice_ran_out(World& world, Event& event);

}  // namespace anyperf::subsystem
