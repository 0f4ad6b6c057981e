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
    std::unique_ptr<HostedRun> hosted;       ///< null: the kernel records
    bool exact = false;                      ///< exact counts instead of samples; only with `hosted`
    std::vector<events::EventGroup> groups;  ///< none if `exact`
    std::vector<std::string> notes;          ///< what was chosen without being asked for
};

/// Chooses in the order of `stat`: an explicit wish, then events that only the presented machine knows, then the
/// virtual PMU if the kernel cannot count the hardware events of a command. Without a command, or with --kernel, the
/// default event of a machine without a PMU is cpu-clock. Error: a wrong event string, or the run cannot be started.
Result<Plan> make_plan(const Options& options);

}  // namespace anyperf::cli::record
