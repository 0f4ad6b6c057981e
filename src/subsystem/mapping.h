// mapping.h: mmap of an event: its ring comes with the first mapping and goes with the last (perf_event_open(2), "MMAP
// layout"; perf_mmap of Linux 6.18). What poll(2) says of it stands here too, as it is about the ring.
#pragma once

#include "subsystem/subsystem.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

Answer<Mapping> map_event(World& world, Event& event, const MapRequest& request);
void unmap_event(World& world, Event& event, const Mapping& mapping);
PollState poll_event(World& world, const Event& event);

}  // namespace anyperf::subsystem
