// trace_files.h: a run's tracepoints as files, as programs look for them below /sys/kernel/tracing.
#pragma once

#include "pmu/tracepoints.h"
#include "pmu/virtual_files.h"

namespace anyperf::pmu {

inline constexpr std::string_view kTracing = "/sys/kernel/tracing";

/// The directory of a tracepoint.
std::string trace_place(const Tracepoint& tracepoint);

/// What is in it.
VirtualTree trace_files_of(const Tracepoint& tracepoint);

/// All, with what else is there.
VirtualTree trace_files(const std::vector<Tracepoint>& tracepoints);

}  // namespace anyperf::pmu
