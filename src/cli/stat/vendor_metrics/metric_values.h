// metric_values.h: the metrics of -M, computed from the lines of a report. In these, places are already added up and
// runs averaged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/stat/metrics.h"
#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// A metric in one place and cgroup.
struct MetricValue {
    const PlannedMetric* planned;
    const Line* first;            ///< the line of its first event, which has the place and the cgroup
    std::optional<Metric> value;  ///< none: an event was not counted, or the formula divides by 0
};

/// All metrics of -M in all places, metric by metric.
std::vector<MetricValue> metric_values(const Report& report);

/// The metrics that the report shows next to one of its lines: the ratio or rate of an event of -e, or the metrics of
/// -M whose first event is that of the line.
std::vector<Metric> metrics_beside(const Line& line, const Report& report);

}  // namespace anyperf::cli::stat
