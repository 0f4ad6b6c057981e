// session.h: measuring: start the command, wait, read, once or several times.
#pragma once

#include <functional>

#include "anyperf/error.h"
#include "cli/command.h"
#include "cli/stat/options.h"
#include "cli/stat/plan.h"
#include "cli/stat/report.h"

namespace anyperf::cli::stat {

/// What one run of the command (or one watch over others) gave.
struct Run {
    Report report;
    Ending ending;             ///< of the command; {} where there is none
    int interrupted_by = 0;    ///< the signal that ended the counting, where there is no command
    bool all_printed = false;  ///< as many intervals as were asked for; `report` is not to be printed
};

/// Prints an interval's report while the run goes on.
using OnInterval = std::function<void(const Report&)>;

/// Measures once. Error: nothing ran, or what ran was ended.
Result<Run> run_once(const Plan& plan, const Options& options, SignalGate& gate, const OnInterval& on_interval);

}  // namespace anyperf::cli::stat
