// run_table.h: the elapsed time of each run of -r as a table (--table), for people who look for outliers.
#pragma once

#include <string>

#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// A line for each run: its time, the difference from the mean, and a bar with one more mark for each 5% of difference.
/// Then the mean and its standard error, as perf prints them. `report` must have two runs or more.
std::string run_table(const Report& report);

}  // namespace anyperf::cli::stat
