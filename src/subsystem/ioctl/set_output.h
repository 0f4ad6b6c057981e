// set_output.h: the ioctls SET_OUTPUT (share another event's ring) and PAUSE_OUTPUT (drop records).
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// Descriptor -1 ends the sharing. EBADF if the descriptor is not an event's. EINVAL if the event's own ring is mapped,
/// or by the other rules of check_output() (output/output.h).
Answer<IoctlAnswer> ioctl_set_output(const IoctlCall& call);
/// EINVAL if the event has no ring with data pages. Records are dropped and counted while the ring is paused.
Answer<IoctlAnswer> ioctl_pause_output(const IoctlCall& call);

}  // namespace anyperf::subsystem
