// threads_records.h: records that a measured thread has made, and that the host writes for it, because the thread
// cannot write to the ring.
#pragma once

#include <cstddef>
#include <span>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Writes a whole record of the event's thread to the event's ring, and wakes the ring's readers. The content is the
/// thread's own statement about itself; its type and size are checked. False if the event has no ring, if the bytes are
/// not a SAMPLE, THROTTLE or UNTHROTTLE record, or if the record was lost.
bool write_threads_record(World& world, Event& event, std::span<const std::byte> record);

}  // namespace anyperf::subsystem
