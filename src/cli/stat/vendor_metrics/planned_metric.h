// planned_metric.h: a metric of -M (--metrics) and the events that it is computed from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/metrics/metric_formula.h"

namespace anyperf::cli::stat {

/// Metrics whose events are the same, or some of the same, share a set of events. Sets are numbered from 1.
struct PlannedMetric {
    MetricFormula formula;
    std::size_t set = 0;
    std::map<std::string, double> sources;  ///< on how many PMUs each event is counted
};

using PlannedMetrics = std::vector<PlannedMetric>;

}  // namespace anyperf::cli::stat
