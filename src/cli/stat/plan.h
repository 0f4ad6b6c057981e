// plan.h: what to count, and for which target: the options, turned into events and targets. Nothing is opened here.
#pragma once

#include <string>
#include <vector>

#include "anyperf/counter_set.h"
#include "anyperf/error.h"
#include "anyperf/event.h"
#include "cli/stat/options.h"
#include "cli/stat/vendor_metrics/planned_metric.h"

namespace anyperf::cli::stat {

/// Events that are counted for one target. There are several scopes only with several cgroups.
struct Scope {
    counting::Target target;
    std::vector<events::EventGroup> groups;
    std::string cgroup;                ///< its name as typed; empty without -G and --for-each-cgroup, and for all tasks
    std::vector<std::string> filters;  ///< of each group: the filter of its tracepoints; empty: none
    std::vector<std::size_t> metric_sets;  ///< of each group: the set of events of -M; 0: events of -e
};

struct Plan {
    std::vector<Scope> scopes;
    std::shared_ptr<const PlannedMetrics> metrics;  ///< of -M; null: none
    std::vector<std::string> notes;                 ///< for people, below the results
    std::string target_name;                        ///< for the headline of the table: "'ls -l'", "process id '12'"
    bool targets_command = false;  ///< events are counted for the command; else a command only limits the time
    std::vector<pid_t> awaited;    ///< counting ends when all of these have ended; empty: something else ends it
};

/// Parses the events with the names of `machine`. Error: a wrong event string, metric, filter, cgroup or CPU, or
/// numbers of cgroups and events that do not match.
Result<Plan> make_plan(const Options& options, const events::Machine& machine);

}  // namespace anyperf::cli::stat
