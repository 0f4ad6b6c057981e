// throttle.h: the records that tell that a clock's samples stop and go on again (PERF_RECORD_THROTTLE, _UNTHROTTLE),
// which the thread writes that Overflow::throttle and ::unthrottle are told to.
//
// Freestanding, as event_page.h.
#pragma once

#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

Written write_throttle(Ring ring, EventPage& event, const Moment& moment);
Written write_unthrottle(Ring ring, EventPage& event, const Moment& moment);

}  // namespace anyperf::subsystem
