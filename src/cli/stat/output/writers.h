// writers.h: a report as text, in each format: a table for people, perf's CSV fields, JSON.
#pragma once

#include <string>

#include "cli/stat/options.h"
#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// The table: the headline, the lines of each event, why events could not be counted, notes, and the times.
std::string to_table(const Report& report, const Options& options);

/// The count as the table shows it: a number, or the reason why there is none, such as "<not supported>".
std::string value_text(const Line& line, const Options& options);

/// One line for each event and place, with the fields of perf's -x: [time of the interval, or "summary",] [CPU, thread,
/// or unit of the machine with its number of CPUs,] value, unit, event, [cgroup,] [standard error of the mean in %,
/// with -r,] running time in ns, % of the enabled time, metric, its unit. Each further metric of the event has a line
/// without the fields of the count.
std::string to_csv(const Report& report, const Options& options);

/// One object on one line, with a newline. With --metric-only it has only the events that have a ratio.
std::string to_json(const Report& report, const Options& options);

/// --metric-only, as a table or as CSV fields: a row for each place, a column for each metric, and a row of headings
/// first if `with_headings`. Empty if no counted event has a ratio.
std::string to_metrics(const Report& report, const Options& options, bool with_headings);

/// Seconds with nine decimals: "12.003456789".
std::string seconds_text(std::uint64_t ns);

/// The report of an interval (-I), in the format of the options. With `first` it also has what is printed only once:
/// headings, why events are not supported, and notes. JSON has everything in each interval.
std::string to_interval(const Report& report, const Options& options, bool first);

}  // namespace anyperf::cli::stat
