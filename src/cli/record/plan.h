// plan.h: which events are recorded, and what records them: the kernel, or the virtual PMU of a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "anyperf/event.h"
#include "cli/command/backend.h"
#include "cli/record/options.h"

namespace anyperf::cli::record {

struct Plan {
    std::unique_ptr<HostedRun> hosted;              ///< null: the kernel records
    bool exact = false;                             ///< exact counts instead of samples; only with `hosted`
    std::vector<events::EventGroup> groups;         ///< none if `exact`
    std::vector<events::EventGroup> switch_groups;  ///< of --switch-output-event
    std::vector<std::string> filters;               ///< of each group's tracepoints; empty: all
    std::vector<std::string> notes;                 ///< for the user: choices that the options did not make
};

/// Chooses as `stat` does. The virtual PMU records if the user wants it, if only the presented machine knows the
/// events, or if the kernel cannot count the hardware events of a command. Otherwise, and always inside a run,
/// perf_event_open(2) records. If it does on a machine without a PMU (no command, or --kernel), the default event is
/// cpu-clock. Error: a wrong event string, options that contradict each other or are impossible inside a run, a run
/// that cannot be started, or a seccomp filter that kills a process that opens an event.
Result<Plan> make_plan(const Options& options);

}  // namespace anyperf::cli::record
