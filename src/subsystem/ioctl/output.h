// output.h: SET_OUTPUT and PAUSE_OUTPUT.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

Answer<IoctlAnswer> ioctl_set_output(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_pause_output(const IoctlCall& call);

}  // namespace anyperf::subsystem
