// period.h: PERF_EVENT_IOC_PERIOD: a new period or frequency, for the event and its children. shared/overflow.h
// describes the effect on the current period.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// EINVAL if the event only counts, or for a period or frequency out of range; EFAULT if the argument can't be read.
Answer<IoctlAnswer> ioctl_period(const IoctlCall& call);

}  // namespace anyperf::subsystem
