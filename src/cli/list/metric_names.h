// metric_names.h: `anyperf list metrics`: the metrics that perf has for the CPU, each with its formula.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/event.h"
#include "cli/metrics/metric_formula.h"
#include "host/root.h"

namespace anyperf::cli {

/// A metric of a CPU.
struct MetricName {
    std::string name, groups, unit, formula;  ///< as perf's list has them; groups are separated by ';'
    std::optional<MissingInput> missing;      ///< why `stat -M` cannot compute it here; none: it can
};

/// The metrics of one of perf's lists.
struct MetricNames {
    std::string list;            ///< "skylake"
    bool in_user_space = false;  ///< the virtual PMU would count
    std::vector<MetricName> metrics;
};

/// The metrics that `stat -M` takes on the machine, with a name or group that matches one of the patterns (all, if
/// there are none). `root` has the machine's files. Error: perf has no metrics for the CPU, or none matches; the fix
/// then suggests a similar name.
Result<std::vector<MetricNames>> metric_names(const events::Machine& machine, const host::Root& root,
                                              const std::vector<std::string>& patterns);

/// As a table, or as one JSON object: {"metrics": [{"name", "cpu", "groups", "unit", "formula", "counted",
/// "missing_event"}]}. "missing_event" is there if the metric cannot be computed: the event or literal that it lacks.
std::string metrics_table(const std::vector<MetricNames>& lists);
std::string metrics_json(const std::vector<MetricNames>& lists);

}  // namespace anyperf::cli
