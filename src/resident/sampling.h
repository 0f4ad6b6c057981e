// sampling.h: what an overflow does on the thread that overflowed: a sample into the ring, a signal, a wake-up.
#pragma once

#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// An event that is made to happen (Source::happenings) has, at the thread's registers: counts it, and does what is
/// due.
void happen(Thread& thread, EventPage& event, EventIndex index);

/// Takes every overflow that is due for `event`, at the thread's registers. False: the event counts no longer, because
/// its limit has run out.
bool take_overflows(Thread& thread, EventPage& event, EventIndex index);

}  // namespace anyperf::resident
