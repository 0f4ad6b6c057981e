// writers.h: a report as text: for people, as perf's fields, as JSON.
#pragma once

#include <string>

#include "cli/stat/options.h"
#include "cli/stat/report.h"

namespace anyperf::cli::stat {

/// The headline, a line an event, what could not be counted and why, and the times.
std::string to_table(const Report& report, const Options& options);

/// One line an event and place, in the order of perf's -x: [time,] [CPU or thread,] value, unit, event, [cgroup,]
/// [deviation in % of -r,] running time in ns, % of the time that it ran, metric, its unit.
std::string to_csv(const Report& report, const Options& options);

/// One object on one line, with a newline.
std::string to_json(const Report& report);

/// The report of an interval, in the format of the options; `first` is the first of them.
std::string to_interval(const Report& report, const Options& options, bool first);

}  // namespace anyperf::cli::stat
