// ring_failure.h: why the ring buffer of an event could not be mapped. perf_event_open(2), "mmap layout".
#pragma once

#include <cstddef>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// What to tell the user about an mmap of an event's descriptor that failed with `errno_value`. `bytes`: the length
/// asked for, header page and ring. The limits are read, and compared with it, where they are what EPERM can mean.
Error why_ring_failed(std::size_t bytes, int errno_value, const Root& root = Root{});

}  // namespace anyperf::host
