// filter_and_bpf.h: the ioctls SET_FILTER, SET_BPF and QUERY_BPF. BPF programs can't be attached: the answers are those
// of a kernel on which none is.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// EEXIST if the event has a filter: it is set once.
Answer<IoctlAnswer> ioctl_set_filter(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_set_bpf(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_query_bpf(const IoctlCall& call);

}  // namespace anyperf::subsystem
