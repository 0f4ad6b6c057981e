// schedules.h: `anyperf run --schedules N`: runs a command with N orders of its threads, and says what differed. A
// program whose output or exit status depends on the order has a race.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {
class Output;
}

namespace anyperf::cli::schedules {

struct SchedulesOptions {
    std::vector<std::string> command;
    std::vector<std::string> machine;  ///< options of `run` that choose the presented machine
    std::uint64_t count = 0;           ///< how many orders
    std::uint64_t first = 0;           ///< the first one
};

/// Runs them one after the other, with /dev/null as input, and prints the report. Returns 0 if output and exit status
/// were the same in all, else 1. Error: a run could not be started.
Result<int> run_schedules(const SchedulesOptions& options, Output& out);

}  // namespace anyperf::cli::schedules
