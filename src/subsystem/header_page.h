// header_page.h: what the first page of a ring says of its event to readers that do without read(2). As in the kernel
// it is as of the last time the event went on, was reset or was mapped (perf_event_update_userpage): a hint, not a
// read.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Nothing where the event has no ring.
void update_header(World& world, Event& event);

}  // namespace anyperf::subsystem
