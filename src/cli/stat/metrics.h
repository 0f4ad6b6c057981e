// metrics.h: the numbers that `stat` shows next to a count: instructions per cycle, miss rates, CPUs utilized. The
// choice and the units are those of perf stat.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

struct Metric {
    double value = 0;
    std::string unit;             ///< "CPUs utilized", "insn per cycle", "K/sec", "of all branches"
    bool percent = false;         ///< `value` is in percent
    int decimals = 3;             ///< metrics of -M have fewer
    bool modelled = false;        ///< one of its counts comes from the virtual PMU's models
    bool with_own_share = false;  ///< anyperf's own work is part of one of its counts
    std::string machine = {};     ///< as Line::machine; empty if no count of it has one
};

/// Follows a number that comes from a model, because it is not a measurement. In CSV it is in the last field.
/// "(modelled: skx)" instead names the machine whose caches and branch predictors were modelled.
inline constexpr std::string_view kModelledMark = "(modelled)";
/// Follows a number that anyperf itself has increased, by an unknown amount. In CSV it is in the last field, too.
inline constexpr std::string_view kOwnShareMark = "(with anyperf's own share)";

/// The mark of the line's count; empty if it has none.
std::string mark_of(const Line& line);
/// The mark of a metric; empty if it has none.
std::string mark_of(const Metric& metric);

/// The metric's unit for programs: "insn per cycle", "% of all branches".
std::string unit_field(const Metric& metric);

/// Whether --metric-only shows the metric, because it means something without its count: a share, a ratio, or GHz.
/// Rates in "/sec" and "CPUs utilized" are not shown.
bool is_ratio(const Metric& metric);

/// The metric of `line`, computed from it and from lines of the same place and cgroup among `lines`. No value if an
/// event that it needs was not counted. `wall_ns` is the elapsed time that the counts cover.
std::optional<Metric> metric_of(const Line& line, std::span<const Line> lines, std::uint64_t wall_ns);

}  // namespace anyperf::cli::stat
