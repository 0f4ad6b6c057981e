// planned_metric.h: a metric of -M (--metrics) and the events that it is computed from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/metrics/metric_formula.h"

namespace anyperf::cli::stat {

/// A metric and the set of events that it uses. A metric whose events are all in the set of another one uses that set.
/// Sets are numbered from 1.
struct PlannedMetric {
    MetricFormula formula;
    std::size_t set = 0;
    std::map<std::string, double> sources;  ///< by event: the number of PMUs that count it
};

using PlannedMetrics = std::vector<PlannedMetric>;

}  // namespace anyperf::cli::stat
