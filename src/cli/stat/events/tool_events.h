// tool_events.h: duration_time, user_time and system_time, perf's tool events, which no PMU counts. `stat` measures
// these times anyway. In the event string each is replaced by a dummy event (PERF_COUNT_SW_DUMMY) with its name, so
// that it keeps its position among the other events and its membership in a group, in every output format.
#pragma once

#include <string>
#include <string_view>

#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// The event string with every tool event replaced: "cycles,duration_time" becomes "cycles,dummy/name=duration_time/u".
std::string with_placeholders(std::string_view events);

/// Fills in the placeholders' lines with the times of the report, in nanoseconds.
void fill_tool_events(Report& report);

}  // namespace anyperf::cli::stat
