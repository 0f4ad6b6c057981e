// cgroups.h: where a control group that perf events can be bound to has its directory (cgroups(7)).
#pragma once

#include <string>
#include <string_view>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// The directory of the cgroup `name`: a directory itself, or a path below the hierarchy that perf_event uses (a
/// mounted v1 perf_event hierarchy, else cgroup2). "/" is the root of that. The Error tells which hierarchy was looked
/// at.
Result<std::string> cgroup_directory(const Root& root, std::string_view name);

}  // namespace anyperf::host
