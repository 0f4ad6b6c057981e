// cgroups.h: finds the directory of a control group by the name that the user gives, for events that count a cgroup
// (PERF_FLAG_PID_CGROUP). cgroups(7).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// The directory of the cgroup `name`, as seen on the machine (not below `root`). `name` is a path to a cgroup's
/// directory, or a path relative to the hierarchy that perf events use: a mounted v1 perf_event hierarchy, else
/// cgroup2. "/" is the top of that hierarchy.
/// Error: no such hierarchy is mounted, or the directory in it is not a cgroup.
Result<std::string> cgroup_directory(const Root& root, std::string_view name);

/// The names, relative to that hierarchy, of the cgroups that a POSIX basic regular expression matches anywhere; the
/// top is "/". A cgroup comes before those below it, and cgroups of one parent are sorted. Error: no such hierarchy is
/// mounted, or the expression is invalid.
Result<std::vector<std::string>> matching_cgroups(const Root& root, const std::string& pattern);

}  // namespace anyperf::host
