// tracefs_files.h: the tracepoints of a run as files of tracefs, where programs look for them: below
// /sys/kernel/tracing. As in virtual_files.h, this file computes paths and contents, and the broker writes them.
#pragma once

#include "pmu/tracing/tracepoint_table.h"
#include "pmu/virtual_files.h"

namespace anyperf::pmu {

/// Where tracefs is mounted. /sys/kernel/debug/tracing is a link to it.
inline constexpr std::string_view kTracefsRoot = "/sys/kernel/tracing";

/// The directory of a tracepoint: events/SYSTEM/NAME below kTracefsRoot.
std::string tracepoint_directory(const Tracepoint& tracepoint);

/// The files in that directory: id and format.
VirtualTree files_of_tracepoint(const Tracepoint& tracepoint);

/// The whole tree: the directories of these tracepoints, the `enable` files of their systems, and the other files of
/// tracefs that perf and libtraceevent read. `uprobe_events` is the only writable file.
VirtualTree trace_files(const std::vector<Tracepoint>& tracepoints);

}  // namespace anyperf::pmu
