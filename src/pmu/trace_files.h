// trace_files.h: a run's tracepoints as files, as programs look for them below /sys/kernel/tracing.
#pragma once

#include "pmu/tracepoints.h"
#include "pmu/virtual_files.h"

namespace anyperf::pmu {

inline constexpr std::string_view kTracing = "/sys/kernel/tracing";

VirtualTree trace_files(const std::vector<Tracepoint>& tracepoints);

}  // namespace anyperf::pmu
