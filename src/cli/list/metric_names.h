// metric_names.h: `anyperf list metrics`: the metrics that perf has for the CPU, each with its formula.
#pragma once

#include <string>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/event.h"

namespace anyperf::cli {

/// A metric of the CPU.
struct MetricName {
    std::string name, groups, unit, formula;
    /// The first name in the formula, or in that of a metric in it, that is no event of this machine; empty: none.
    std::string missing;
};

/// The metrics of the machine's CPU with a name or group that matches one of the patterns (all, if there are none).
/// Error: perf has no metrics for the CPU, or none matches; the fix names similar ones.
Result<std::vector<MetricName>> metric_names(const events::Machine& machine, const std::vector<std::string>& patterns);

/// As a table, or as one JSON object.
std::string metrics_table(const std::vector<MetricName>& metrics);
std::string metrics_json(const std::vector<MetricName>& metrics);

}  // namespace anyperf::cli
