// series.h: measures as often as -r asks, with the commands of --pre and --post around each run, and turns the runs
// into one result.
#pragma once

#include "cli/stat/session.h"

namespace anyperf::cli::stat {

/// Adds one run to the report of all runs. Counts and times are summed, and average() divides them. The values of each
/// run are kept for the statistics. For the first run, `all` must be a copy of `one` with all.runs 0.
void add_run(Report& all, const Report& one);
/// Turns the sums of add_run() into means.
void average(Report& all);

/// Measures the whole series. It ends early with a run in which a signal killed the command or asked anyperf to end,
/// even if the command survived that. The counts of this run are left out of the means, unless there is no other run.
/// With -r 0 each run is a result of its own, passed to the listener. Error: as from measure_once() and run_hook().
Result<Measurement> measure_series(const Plan& plan, const Options& options, BlockedSignals& signals,
                                   const Listener& listener);

}  // namespace anyperf::cli::stat
