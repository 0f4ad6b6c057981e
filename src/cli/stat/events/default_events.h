// default_events.h: the events that `stat` counts without -e, those that -d adds, and those of --topdown.
#pragma once

#include <string>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::cli::stat {

/// The events without -e, as an event string. `detail` is how often -d was given. With `in_user_space` the event that
/// the virtual PMU would have to model is left out, because models are slow.
std::string default_events(int detail, bool in_user_space = false);
/// Only the events that -d adds, for use together with -e. Empty if `detail` is 0.
std::string detail_events(int detail);
/// The events of --topdown as an event string, for the CPU whose PMU is below `root`. They divide up the slots of the
/// pipeline. Error: the CPU has no such events, or only those of CPUs before Ice Lake.
Result<std::string> topdown_events(const host::Root& root);

}  // namespace anyperf::cli::stat
