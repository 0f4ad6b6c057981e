// header_page.h: the count and times in the header page of a ring (struct perf_event_mmap_page), for readers that do
// without read(2). As in the kernel (perf_event_update_userpage()) they are as of the last time that the event began to
// count, was reset or first mapped: a hint, not a current value. The index is always 0, so readers never use rdpmc.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Writes the event's present count and times there. Does nothing if the event has no ring, or is a child.
void update_header(World& world, Event& event);

}  // namespace anyperf::subsystem
