// ioctl.h: the ioctls of an event's descriptor, by request (perf_event_open(2), "perf_event ioctl calls").
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// ENOTTY for what isn't in the table: other numbers, and known ones with another size or direction.
Answer<IoctlAnswer> dispatch(std::uint32_t request, const IoctlCall& call);

}  // namespace anyperf::subsystem
