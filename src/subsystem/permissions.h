// permissions.h: what perf_event_paranoid and CAP_PERFMON allow (perf_event_open(2), "perf_event_paranoid";
// perf_allow_* in include/linux/perf_event.h of Linux 6.18).
#pragma once

#include "subsystem/host.h"

namespace anyperf::subsystem {

/// Kernel mode and physical addresses: perf_event_paranoid at most 1, or CAP_PERFMON.
constexpr bool may_measure_kernel(const Limits& limits, const Credentials& credentials) {
    return limits.paranoid <= 1 || credentials.perfmon;
}

/// All tasks of a CPU: perf_event_paranoid at most 0, or CAP_PERFMON.
constexpr bool may_measure_cpu(const Limits& limits, const Credentials& credentials) {
    return limits.paranoid <= 0 || credentials.perfmon;
}

/// Raw tracepoint data: perf_event_paranoid -1, or CAP_PERFMON.
constexpr bool may_trace(const Limits& limits, const Credentials& credentials) {
    return limits.paranoid <= -1 || credentials.perfmon;
}

}  // namespace anyperf::subsystem
