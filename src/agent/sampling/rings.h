// rings.h: ring buffers as the threads of this process write them. The process has a mapping of its own for each ring,
// apart from the application's, which is made when the first record is written.
#pragma once

#include "agent/process.h"
#include "subsystem/shared/ring.h"

namespace anyperf::agent {

using engine::Thread;

/// The ring of this number. Its `memory` is null if there is no such ring or it cannot be mapped. Writing to it needs
/// the ring's lock.
subsystem::Ring ring_of(Thread& thread, RingIndex index);

/// Writes the event's count and times to the header page of its ring (struct perf_event_mmap_page), for programs that
/// read that page instead of calling read(2). Does nothing if the event has no ring. Precondition: `thread` is the
/// caller, and the event counts it.
void publish(Thread& thread, EventPage& event);

}  // namespace anyperf::agent
