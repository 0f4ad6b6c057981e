// period.h: PERF_EVENT_IOC_PERIOD.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

Answer<IoctlAnswer> ioctl_period(const IoctlCall& call);

}  // namespace anyperf::subsystem
