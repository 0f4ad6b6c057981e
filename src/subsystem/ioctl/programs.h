// programs.h: what goes to the PMU or to BPF: SET_FILTER, SET_BPF, QUERY_BPF. BPF answers as a kernel without it.
#pragma once

#include "subsystem/ioctl/call.h"

namespace anyperf::subsystem {

Answer<IoctlAnswer> ioctl_set_filter(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_set_bpf(const IoctlCall& call);
Answer<IoctlAnswer> ioctl_query_bpf(const IoctlCall& call);

}  // namespace anyperf::subsystem
