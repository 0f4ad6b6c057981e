// series.h: measures as often as -r asks, with the commands of --pre and --post around each run, and turns the runs
// into one result.
#pragma once

#include "cli/stat/session.h"

namespace anyperf::cli::stat {

/// Adds one run to the report of all. Counts and times are summed, and average() divides them; the single values
/// are kept for the statistics. The first run is in `all` already, with all.runs 0.
void add_run(Report& all, const Report& one);
/// Turns the sums of add_run() into means.
void average(Report& all);

/// Measures the whole series. A run that did not finish ends it: a signal killed the command, as an interrupt by the
/// user should, or the command caught such a signal and exited. Its counts are left out of the means, unless there is
/// no other run. With -r 0 each run is a result of its own, passed to the listener. Error: as of
/// measure_once() and run_hook().
Result<Measurement> measure_series(const Plan& plan, const Options& options, BlockedSignals& signals,
                                   const Listener& listener);

}  // namespace anyperf::cli::stat
