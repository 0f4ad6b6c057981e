// period.h: PERF_EVENT_IOC_PERIOD: a new period or frequency, for the event and its children. What it does to the
// running period is in shared/overflow.h.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// EINVAL if the event only counts, or for a period or frequency out of range.
Answer<IoctlAnswer> ioctl_period(const IoctlCall& call);

}  // namespace anyperf::subsystem
