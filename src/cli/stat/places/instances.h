// instances.h: an event name can become several events, one for each instance of an uncore PMU (uncore_imc_0,
// uncore_imc_1 …). People want their sum.
#pragma once

#include <vector>

#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// Adds up the lines that one name became on several instances of an uncore PMU, in the same place and cgroup; the sum
/// has the name as it was typed. Core PMUs of a hybrid CPU stay apart: their counts mean different things. perf does
/// the same without --no-merge.
std::vector<Line> merged_instances(std::vector<Line> lines);

}  // namespace anyperf::cli::stat
