// measure.h: measures one command of a bench file. Each run is one of `anyperf stat --virtual --deterministic --json`
// in a process of its own: it starts in the bench's directory with the bench's environment, and so gets the same counts
// as when a user types that command.
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
    std::string errors;             ///< the end of its standard error, if it failed
    nlohmann::ordered_json report;  ///< that of `stat --json`; null if the command failed
    stat::Baseline counts;          ///< the same, read
    bool repeats = true;            ///< every event has one count in all runs
    std::string first_difference;   ///< if it does not repeat: the first thread of two runs that differs, and in what

    bool succeeded() const { return exit_status == 0; }
};

/// Runs the set-up and then the command, `runs` times. If the counts differ, two more runs find the first thread that
/// differs. Error: set-up failed, or the command cannot be run or counted. A command that fails is no error.
Result<Measured> measure(const Bench& bench);

}  // namespace anyperf::cli::bench
