// metrics.h: numbers that people read next to a count: instructions per cycle, miss rates, CPUs used.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/stat/report.h"

namespace anyperf::cli::stat {

struct Metric {
    double value = 0;
    std::string unit;  ///< "CPUs utilized", "insn per cycle", "K/sec", "of all branches"
    bool percent = false;
};

/// Whether it is a share or a ratio, which says something without its count; rates and utilisation don't.
bool is_ratio(const Metric& metric);

/// The metric of `line`, from the lines of the same place and cgroup among `lines`. None where what it needs wasn't
/// counted. `wall_ns` is the time the counts are of.
std::optional<Metric> metric_of(const Line& line, std::span<const Line> lines, std::uint64_t wall_ns);

}  // namespace anyperf::cli::stat
