// enable.h: the ioctls that start and stop events: ENABLE, DISABLE, RESET, REFRESH; and ID. A thread does the first
// three without a request for a group that counts this thread alone (shared/local_toggle.h).
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

Answer<IoctlAnswer> ioctl_enable(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_disable(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_reset(const IoctlCall& call);
/// Adds the argument to the limit of overflows and enables the event. EINVAL with inherit, or without sampling.
Answer<IoctlAnswer> ioctl_refresh(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_id(const IoctlCall& call);

}  // namespace anyperf::subsystem
