// measure.h: measures one command of a bench file. Each run is an `anyperf stat --virtual --deterministic --json` in a
// process of its own, which starts in the bench's directory with the bench's environment. So the counts are those that
// a user gets by typing that command.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "anyperf/error.h"
#include "cli/bench/bench_file.h"
#include "cli/stat/gate/comparison.h"

namespace anyperf::cli::bench {

/// What the runs of one bench gave.
struct Measured {
    std::string name;
    int exit_status = 0;            ///< of the command: 128 + signal if a signal killed it
    std::string errors;             ///< the end of its standard error, also if it succeeded
    nlohmann::ordered_json report;  ///< that of `stat --json`; null if the command failed
    stat::Baseline counts;          ///< what `report` says, and the counts of all runs
    bool repeats = true;            ///< every event has one count in all runs
    std::string first_difference;   ///< if not: the first thread that differs between two runs, and in what

    bool succeeded() const { return exit_status == 0; }
};

/// Runs the set-up once, and then the command as often as `runs` says. If the counts differ, up to ten more runs look
/// for the first thread that differs. Error: the set-up failed, or the command cannot be run or counted. A command that
/// fails is not an error: `exit_status` says so.
Result<Measured> measure(const Bench& bench);

}  // namespace anyperf::cli::bench
