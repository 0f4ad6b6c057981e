// plan.h: what is to be counted, for whom: options, turned into events and targets.
#pragma once

#include <string>
#include <vector>

#include "anyperf/counter_set.h"
#include "anyperf/error.h"
#include "anyperf/event.h"
#include "cli/stat/options.h"

namespace anyperf::cli::stat {

/// Events that are counted for one target.
struct Scope {
    counting::Target target;
    std::vector<events::EventGroup> groups;
    std::string cgroup;  ///< as it was named; empty without -G
};

struct Plan {
    std::vector<Scope> scopes;
    std::string target_name;     ///< for the headline
    bool of_command = false;     ///< the target is the command; else it is only how long to count
    std::vector<pid_t> watched;  ///< whose end ends the counting
};

/// Error: an event string, a cgroup or the combination of both is wrong.
Result<Plan> make_plan(const Options& options, const events::Machine& machine);

}  // namespace anyperf::cli::stat
