// filter_and_bpf.h: the ioctls SET_FILTER, SET_BPF and QUERY_BPF. BPF programs can't be attached: the answers are those
// of a kernel on which none is attached.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

/// EEXIST if the event has a filter already; EFAULT or EINVAL for the text; the PMU's own refusal if it can't parse the
/// text; ENOMEM.
Answer<IoctlAnswer> ioctl_set_filter(const IoctlCall& call);
/// EBADF if nothing is open under the descriptor, else EINVAL.
Answer<IoctlAnswer> ioctl_set_bpf(const IoctlCall& call);
/// Answers that no program is attached. EPERM without CAP_PERFMON; EINVAL unless the event is a tracepoint; EFAULT;
/// E2BIG.
Answer<IoctlAnswer> ioctl_query_bpf(const IoctlCall& call);

}  // namespace anyperf::subsystem
