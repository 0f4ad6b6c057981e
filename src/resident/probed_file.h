// probed_file.h: the file that an open of a uprobe names.
#pragma once

#include "engine/engine.h"
#include "subsystem/shared/probe.h"

namespace anyperf::resident {

/// Of the attr at this address in the application's memory, if its type is that of uprobes: the file whose path
/// config1 points to, as this process sees it. In the kernel's order of errors (perf_uprobe_init(),
/// create_local_trace_uprobe()).
subsystem::ProbedFile probed_file(const engine::Engine& engine, std::uint64_t attr);

}  // namespace anyperf::resident
