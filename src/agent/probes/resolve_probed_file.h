// resolve_probed_file.h: finds the file that an open of a uprobe names. The program does this, not the broker, because
// a path is resolved in the program's own root, working directory and mount namespace, with its rights.
#pragma once

#include "engine/engine.h"
#include "subsystem/shared/probe.h"

namespace anyperf::agent {

/// `attr` is the address of a perf_event_attr in the application's memory. If its type is that of uprobes, returns the
/// file of the path that config1 points to; its `error` says why it cannot be probed, in the kernel's order of errors
/// (perf_uprobe_init(), create_local_trace_uprobe()). For other types the result is empty.
subsystem::ProbedFile resolve_probed_file(const engine::Engine& engine, std::uint64_t attr);

}  // namespace anyperf::agent
