// literals.h: the values of the words that begin with '#' in formulas of metrics ("#smt_on", "#num_cpus_online"), as
// perf reads them from sysfs and procfs (tools/perf/util/expr.c, expr__get_literal()).
#pragma once

#include <string_view>

#include "host/root.h"

namespace anyperf::cli {

/// The value of a literal, in lower case and with its '#', on the machine of `root`. `system_wide`: every task is
/// counted on every CPU, on which #core_wide depends. NaN if the machine does not say, or if no such literal exists.
double literal_value(const host::Root& root, std::string_view literal, bool system_wide);

}  // namespace anyperf::cli
