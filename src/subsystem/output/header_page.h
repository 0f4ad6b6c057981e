// header_page.h: the count and times in the header page of a ring (struct perf_event_mmap_page), for readers that do
// without read(2). As in the kernel (perf_event_update_userpage()) they are as of the last time that the event began to
// count, was reset or first mapped: a hint, not a current value. A thread reads its own hardware events by rdpmc, too:
// the offset in the page plus that value is the current count.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Writes the event's present count and times there. Does nothing if the event has no ring, or is a child.
void update_header(World& world, Event& event);

}  // namespace anyperf::subsystem
