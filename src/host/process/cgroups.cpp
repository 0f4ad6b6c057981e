// cgroups.cpp: finds the directory of a cgroup by its name. Two versions of cgroups may be mounted at once. perf events
// of a cgroup belong to the v1 hierarchy of the controller perf_event if that is mounted, else to cgroup2, where the
// controller is always there (cgroups(7)). A name is relative to the mount of that hierarchy. It may also be the
// absolute path of the cgroup's directory.
#include "host/process/cgroups.h"

#include <regex.h>

#include <algorithm>
#include <charconv>
#include <ranges>
#include <sstream>

namespace anyperf::host {

namespace {

/// Whether a comma-separated list of mount options has `wanted`.
bool has_option(std::string_view options, std::string_view wanted) {
    return std::ranges::any_of(options | std::views::split(','),
                               [&](auto one) { return std::ranges::equal(one, wanted); });
}

/// A field of /proc/self/mounts. The kernel writes blanks, tabs, newlines and backslashes as \ooo
/// (proc_pid_mounts(5)).
std::string unescaped(const std::string& field) {
    constexpr std::size_t kDigits = 3;
    std::string text;
    for (std::size_t i = 0; i < field.size(); ++i) {
        unsigned code = 0;
        const char* const first = field.data() + i + 1;
        if (field[i] == '\\' && field.size() - i > kDigits &&
            std::from_chars(first, first + kDigits, code, 8).ptr == first + kDigits) {
            text += static_cast<char>(code);
            i += kDigits;
        } else {
            text += field[i];
        }
    }
    return text;
}

/// Where the hierarchy that perf events use is mounted; empty if nowhere.
std::string hierarchy(const Root& root) {
    std::istringstream mounts{root.read("/proc/self/mounts").value_or("")};
    std::string v2;
    std::string device;
    std::string directory;
    std::string type;
    std::string options;
    for (std::string rest; mounts >> device >> directory >> type >> options && std::getline(mounts, rest);) {
        if (type == "cgroup" && has_option(options, "perf_event")) return unescaped(directory);
        if (type == "cgroup2" && v2.empty()) v2 = unescaped(directory);
    }
    return v2;
}

/// Every directory of a cgroup file system has this file.
bool is_cgroup(const Root& root, const std::string& directory) {
    return root.exists(directory + "/cgroup.procs");
}

Error no_hierarchy(const std::string& what) {
    return {what, "no cgroup hierarchy that perf events can use is mounted",
            "as root: mount -t cgroup2 none /sys/fs/cgroup"};
}

/// Adds the cgroups below `directory`, each before those below it. A cgroup file system has no links, so the walk ends.
void collect(const Root& root, const std::string& directory, std::vector<std::string>& found) {
    for (const auto& name : root.list(directory)) {
        const std::string path = directory + "/" + name;
        if (!is_cgroup(root, path)) continue;
        found.push_back(path);
        collect(root, path, found);
    }
}

}  // namespace

// As perf does, it matches with regexec(3) on the path below the mount ("/" for the top). So a pattern may match
// anywhere in the name.
Result<std::vector<std::string>> matching_cgroups(const Root& root, const std::string& pattern) {
    const std::string what = "cannot find cgroups by " + pattern;
    const std::string top = hierarchy(root);
    if (top.empty()) return std::unexpected(no_hierarchy(what));
    regex_t expression;
    if (const int error = ::regcomp(&expression, pattern.c_str(), REG_NOSUB); error != 0) {
        std::string text(128, '\0');
        text.resize(::regerror(error, &expression, text.data(), text.size()) - 1);
        return std::unexpected(Error{what, "it is not a basic regular expression: " + text, "see regex(7)"});
    }
    std::vector<std::string> directories{top};
    collect(root, top, directories);
    std::vector<std::string> names;
    for (const auto& directory : directories) {
        const std::string name = directory == top ? "/" : directory.substr(top.size() + 1);
        if (::regexec(&expression, name.c_str(), 0, nullptr, 0) == 0) names.push_back(name);
    }
    ::regfree(&expression);
    return names;
}

Result<std::string> cgroup_directory(const Root& root, std::string_view name) {
    const std::string given{name};
    if (name.empty())
        return std::unexpected(Error{"cannot find the cgroup ''", "the name is empty",
                                     "give the name of a cgroup; / is the top of the hierarchy"});
    if (name.starts_with('/') && is_cgroup(root, given)) return given;
    const std::string top = hierarchy(root);
    const std::string what = "cannot find the cgroup " + given;
    if (top.empty()) return std::unexpected(no_hierarchy(what));
    const std::string directory = name == "/" ? top : top + (name.starts_with('/') ? "" : "/") + given;
    if (is_cgroup(root, directory)) return directory;
    return std::unexpected(
        Error{what, directory + " is not a cgroup: it has no file cgroup.procs",
              "name a directory below " + top + "; `systemd-cgls` or `find " + top + " -type d` lists them"});
}

}  // namespace anyperf::host
