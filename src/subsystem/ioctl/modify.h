// modify.h: PERF_EVENT_IOC_MODIFY_ATTRIBUTES (perf_event_modify_attr() of Linux 6.18). It gives an event another attr
// without a new descriptor; gdb moves breakpoints so.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// Changes the attr of the event and its children. The PMU decides which fields may change; sig_data always may. The
/// event is disabled during the change. Then it is enabled unless `disabled` is set: in the new attr, or in the old one
/// if the PMU refused.
Answer<IoctlAnswer> ioctl_modify_attributes(const IoctlCall& call);

}  // namespace anyperf::subsystem
