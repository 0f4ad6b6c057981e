// run.h: `anyperf run`: starts a command in the engine, serves its process tree as the broker, and waits for it. The
// counts are in the run's memory afterwards (counts.h).
#pragma once

#include "anyperf/error.h"
#include "broker/launch/run_options.h"
#include "broker/run_memory.h"

namespace anyperf::broker {

/// A run that has ended.
struct RunResult {
    RunMemory memory;
    int status = 0;  ///< of the command, as wait(2) gives it
};

/// Runs the command in the engine and waits for it. A signal from the terminal reaches the command directly; one that
/// is sent to this process alone is forwarded (signal_forwarding.h). Error: the run could not be started.
Result<RunResult> run(const RunOptions& options);

}  // namespace anyperf::broker
