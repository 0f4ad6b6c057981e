// ioctl.h: the table of ioctls on an event's descriptor (perf_event_open(2), "perf_event ioctl calls").
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// Calls the request's handler. ENOTTY if there is none: another number, or a known one with another size or direction.
Answer<IoctlAnswer> dispatch(std::uint32_t request, const IoctlCall& call);

}  // namespace anyperf::subsystem
