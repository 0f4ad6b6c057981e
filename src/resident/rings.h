// rings.h: ring buffers as this process sees them. One is mapped when the first record is written to it.
#pragma once

#include "resident/process.h"
#include "subsystem/shared/ring.h"

namespace anyperf::resident {

using engine::Thread;

/// The ring of this number; one without memory where it can't be mapped.
subsystem::Ring ring_of(Thread& thread, RingIndex index);

/// What the event counts and for how long, into the header page of its ring, if it has one. It counts this thread.
void publish(Thread& thread, EventPage& event);

}  // namespace anyperf::resident
