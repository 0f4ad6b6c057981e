// metric_plan.h: which metrics -M names, and the groups of events to open for them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/event.h"
#include "cli/stat/options.h"
#include "cli/stat/vendor_metrics/planned_metric.h"

namespace anyperf::cli::stat {

struct MetricPlan {
    PlannedMetrics metrics;  ///< in the order in which they were named
    /// In each set, the events of a core PMU are one weak group, so that all are on counters at the same time if there
    /// are enough counters. Other events (uncore, clocks) are groups of one, and with --metric-no-group all are.
    std::vector<events::EventGroup> groups;
    std::vector<std::size_t> sets;   ///< of each group: the set that its events belong to
    std::vector<std::string> notes;  ///< which metrics of a group were left out, and why
};

/// The plan of options.metrics, which may be empty. Error: no metric or group of metrics has the name, or the machine
/// cannot count an event of the metric or, for a group, an event of each of its metrics.
Result<MetricPlan> plan_metrics(const Options& options, const events::Machine& machine);

}  // namespace anyperf::cli::stat
