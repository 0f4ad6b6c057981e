// open.h: perf_event_open(2): what is asked in which order (kernel/events/core.c of Linux 6.18; two mistakes at once
// are answered with the first), and the event that comes of it.
#pragma once

#include "subsystem/subsystem.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

Answer<EventIndex> open_event(World& world, const OpenRequest& request);

}  // namespace anyperf::subsystem
