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
    /// The events of a CPU's PMU are a weak group for each set, so that all are on the counters at the same time if
    /// there are enough counters. Other events of the set (uncore, clocks) are groups of one.
    std::vector<events::EventGroup> groups;
    std::vector<std::size_t> sets;   ///< of each group
    std::vector<std::string> notes;  ///< which metrics of a group were left out, and why
};

/// The plan of options.metrics, which may be empty. Error: no metric or group has the name, or the machine cannot
/// count an event of a metric; of a group: an event of each of its metrics.
Result<MetricPlan> plan_metrics(const Options& options, const events::Machine& machine);

}  // namespace anyperf::cli::stat
