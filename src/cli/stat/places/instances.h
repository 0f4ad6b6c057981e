// instances.h: adds up the events that one name became. On an uncore PMU with several instances (uncore_imc_0,
// uncore_imc_1 …) a name becomes an event for each instance, and people want their sum.
#pragma once

#include <vector>

#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// Adds up the lines of the instances of an uncore PMU that have the same name, place and cgroup. The sum has the name
/// as it was typed. Core PMUs of a hybrid CPU stay apart: their counts mean different things. perf does the same
/// without --no-merge.
std::vector<Line> merged_instances(std::vector<Line> lines);

}  // namespace anyperf::cli::stat
