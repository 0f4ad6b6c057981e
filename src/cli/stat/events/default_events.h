// default_events.h: the events that `stat` counts if -e does not name any, and those that -d adds, and those of
// --topdown.
#pragma once

#include <string>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::cli::stat {

/// An event string as for -e. `detail` is how often -d was given.
std::string default_events(int detail, bool in_user_space = false);
/// Only the events that -d adds: for use together with -e. Empty if `detail` is 0.
std::string detail_events(int detail);
/// The events that divide up the slots of a pipeline, for the CPU whose PMU is below `root`. Error: it has no such
/// events, or those of CPUs before Ice Lake only.
Result<std::string> topdown_events(const host::Root& root);

}  // namespace anyperf::cli::stat
