// event_state.h: changes one event's state: its page, its PMU and its thread's work, always together.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Does nothing if the event is in that state already. Count, times and period are brought up to date.
void set_state(World& world, Event& event, EventState state);

/// Adopts a state that the event's own thread has written: disabled by REFRESH, or toggled locally. Informs the PMU.
/// True if the state differed. To be called before a decision that depends on an event's state.
bool sync_state_from_page(World& world, Event& event);

}  // namespace anyperf::subsystem
