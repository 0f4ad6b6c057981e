// switch.h: the ioctls that start and stop events: ENABLE, DISABLE, RESET, REFRESH; and ID.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

Answer<IoctlAnswer> ioctl_enable(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_disable(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_reset(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_refresh(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_id(const IoctlCall& call);

}  // namespace anyperf::subsystem
