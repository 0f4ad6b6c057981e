// throttle.h: the records THROTTLE and UNTHROTTLE: the samples of a clock event stop and resume. The thread writes them
// when Overflow::throttle or ::unthrottle says so. Freestanding, as event_page.h.
#pragma once

#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

/// The caller holds the locks of the event and of the ring.
WriteResult write_throttle(Ring ring, EventPage& event, const RecordOrigin& moment);
WriteResult write_unthrottle(Ring ring, EventPage& event, const RecordOrigin& moment);

}  // namespace anyperf::subsystem
