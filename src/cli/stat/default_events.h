// default_events.h: what is counted where -e doesn't say.
#pragma once

#include <string>

namespace anyperf::cli::stat {

/// Event names as for -e; `detail` is how often -d was given. With -e, only what -d adds.
std::string default_events(int detail);
std::string detail_events(int detail);

}  // namespace anyperf::cli::stat
