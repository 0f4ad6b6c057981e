// header_page.h: the count and times in the header page of a ring (struct perf_event_mmap_page), for readers that do
// without read(2). As in the kernel (perf_event_update_userpage()) they are those of the last time that the event
// began to count, was reset or was mapped: a hint, not a current value. No index is given, so rdpmc is never used.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Does nothing if the event has no ring or was not opened by a client.
void update_header(World& world, Event& event);

}  // namespace anyperf::subsystem
