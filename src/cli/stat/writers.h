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

/// One object on one line, with a newline. With --metric-only its events are those that have a ratio beside them.
std::string to_json(const Report& report, const Options& options);

/// --metric-only, as a table or as fields: a row a place, a column a metric, and the headings above where asked for.
/// Empty where nothing that was counted has one.
std::string to_metrics(const Report& report, const Options& options, bool with_headings);

/// "12.003456789"
std::string seconds_text(std::uint64_t ns);

/// The report of an interval, in the format of the options; `first` is the first of them.
std::string to_interval(const Report& report, const Options& options, bool first);

}  // namespace anyperf::cli::stat
