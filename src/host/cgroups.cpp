// cgroups.cpp: see cgroups.h.
#include "host/cgroups.h"

#include <algorithm>
#include <ranges>
#include <sstream>

namespace anyperf::host {

namespace {

bool has_option(std::string_view options, std::string_view wanted) {
    return std::ranges::any_of(options | std::views::split(','),
                               [&](auto one) { return std::ranges::equal(one, wanted); });
}

/// perf_event belongs to a v1 hierarchy where one is mounted for it, else to cgroup2 without being asked.
std::string hierarchy(const Root& root) {
    std::istringstream mounts{root.read("/proc/self/mounts").value_or("")};
    std::string v2;
    std::string device;
    std::string directory;
    std::string type;
    std::string options;
    for (std::string rest; mounts >> device >> directory >> type >> options && std::getline(mounts, rest);) {
        if (type == "cgroup" && has_option(options, "perf_event")) return directory;
        if (type == "cgroup2" && v2.empty()) v2 = directory;
    }
    return v2;
}

bool is_cgroup(const Root& root, const std::string& directory) {
    return root.exists(directory + "/cgroup.procs");
}

}  // namespace

Result<std::string> cgroup_directory(const Root& root, std::string_view name) {
    const std::string given{name};
    if (name.starts_with('/') && is_cgroup(root, given)) return given;
    const std::string top = hierarchy(root);
    const std::string what = "cannot find the cgroup " + given;
    if (top.empty())
        return std::unexpected(Error{what, "no cgroup hierarchy is mounted that perf events belong to",
                                     "mount -t cgroup2 none /sys/fs/cgroup"});
    const std::string directory = name == "/" ? top : top + (name.starts_with('/') ? "" : "/") + given;
    if (is_cgroup(root, directory)) return directory;
    return std::unexpected(
        Error{what, directory + " is no cgroup: it has no file cgroup.procs",
              "name a directory below " + top + "; `systemd-cgls` or `find " + top + " -type d` lists them"});
}

}  // namespace anyperf::host
