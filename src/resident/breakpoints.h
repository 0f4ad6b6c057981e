// breakpoints.h: events of the breakpoint PMU, as the thread that they watch sees them.
#pragma once

#include "resident/process.h"

namespace anyperf::resident {

/// Whether it is one that counts.
bool is_breakpoint(const EventPage& event);

/// Adds what an active event watches, if it is one.
void watch_for(const EventPage& event, engine::Watches& watches);

}  // namespace anyperf::resident
