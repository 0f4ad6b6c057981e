// tool_clocks.h: duration_time, user_time and system_time: perf's names, in -e, for what stat measures itself and
// prints always. A dummy event stands for each, so that it has its place among the others, in every format.
#pragma once

#include <string>
#include <string_view>

#include "cli/stat/report.h"

namespace anyperf::cli::stat {

/// "cycles,duration_time" with dummies in their place.
std::string with_stand_ins(std::string_view events);

/// Gives the dummies' lines what the report has measured.
void fill_clocks(Report& report);

}  // namespace anyperf::cli::stat
