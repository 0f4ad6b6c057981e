// modify.h: PERF_EVENT_IOC_MODIFY_ATTRIBUTES (perf_event_modify_attr() of Linux 6.18). It gives an event another attr
// without a new descriptor. Only breakpoints support it, as on Linux.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// Changes the attr of the event and its children. The PMU decides which fields may change; sig_data always may. The
/// event is disabled during the change. Then it is enabled, even if the PMU refused, unless its attr has `disabled`
/// set. Refuses with the errors of copy_attr() and check_attr_content() for the attr; with EINVAL if its type differs;
/// with EOPNOTSUPP if the event is not a breakpoint; with the PMU's own errors.
Answer<IoctlAnswer> ioctl_modify_attributes(const IoctlCall& call);

}  // namespace anyperf::subsystem
