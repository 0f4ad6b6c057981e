// permissions.h: who may measure what: perf_event_paranoid and CAP_PERFMON (perf_event_open(2), "perf_event_paranoid";
// Linux 6.18, include/linux/perf_event.h, perf_allow_*).
#pragma once

#include "subsystem/host.h"

namespace anyperf::subsystem {

/// Kernel mode, physical addresses: level 2 and up takes it from the unprivileged.
constexpr bool may_measure_kernel(const Limits& limits, const Credentials& who) {
    return limits.paranoid <= 1 || who.perfmon;
}

/// Every task of a CPU: from level 1 on.
constexpr bool may_measure_cpu(const Limits& limits, const Credentials& who) {
    return limits.paranoid <= 0 || who.perfmon;
}

/// The raw data of tracepoints, rings without a limit: from level 0 on.
constexpr bool may_trace(const Limits& limits, const Credentials& who) {
    return limits.paranoid <= -1 || who.perfmon;
}

}  // namespace anyperf::subsystem
