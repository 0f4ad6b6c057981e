// event_state.h: changes one event's state. The page, the PMU and the thread's work always follow together.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Puts the event into `state`, and brings its count, times and period up to date. Does nothing if it is in that state
/// already.
void set_state(World& world, Event& event, EventState state);

/// Adopts a state that the event's own thread has written: it disabled the event when a REFRESH limit ran out, or
/// toggled it locally. Informs the PMU. True if the state differed. To be called before a decision that depends on an
/// event's state.
bool sync_state_from_page(World& world, Event& event);

}  // namespace anyperf::subsystem
