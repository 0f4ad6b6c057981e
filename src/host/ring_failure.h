// ring_failure.h: explains why the ring buffer of an event could not be mapped. perf_event_open(2), "MMAP layout".
#pragma once

#include <cstddef>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// Explains an mmap of an event's descriptor that failed with `errno_value` (positive). `bytes` is the requested
/// length, with the header page. For EPERM the message has the limits on locked memory of this user and process, as far
/// as they can be read below `root`.
Error why_ring_failed(std::size_t bytes, int errno_value, const Root& root = Root{});

}  // namespace anyperf::host
