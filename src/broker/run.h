// run.h: `anyperf run`: starts a command in the engine, waits for it, and has the counts of its process tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "broker/run_memory.h"
#include "broker/server.h"

namespace anyperf::broker {

struct RunOptions {
    std::vector<std::string> command;  ///< at least the program
    std::uint32_t counting = 0;        ///< classes to count, a ClassSet of engine/x86_64/classes.h; 0: nothing
    bool deterministic = false;        ///< fixed addresses, fixed AT_RANDOM
    MachineOptions machine{};
};

/// A run that has ended.
struct RunResult {
    RunMemory memory;
    int status = 0;  ///< of the command, as wait(2) gives it
};

/// Runs the command in the engine and waits for it. The terminal's signals go to the command; we only
/// wait, and hand on to it what is sent to us alone.
Result<RunResult> run(const RunOptions& options);

}  // namespace anyperf::broker
