// modify.h: PERF_EVENT_IOC_MODIFY_ATTRIBUTES.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// What of an event's attr may change its PMU says; sig_data always. The event begins or stops as the new attr says;
/// after a refusal as its old one does (Linux 6.18).
Answer<IoctlAnswer> ioctl_modify_attributes(const IoctlCall& call);

}  // namespace anyperf::subsystem
