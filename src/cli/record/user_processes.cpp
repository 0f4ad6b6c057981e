#include "cli/record/user_processes.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/command/target_options.h"
#include "try.h"

namespace anyperf::cli::record {

namespace {

/// As in perf, a name comes before a number.
std::optional<uid_t> user_id(const std::string& user) {
    if (const passwd* const entry = ::getpwnam(user.c_str())) return entry->pw_uid;
    const auto number = whole_number(user);
    const bool is_id = number && *number < static_cast<uid_t>(-1);
    return is_id ? std::optional{static_cast<uid_t>(*number)} : std::nullopt;
}

}  // namespace

// The owner of /proc/PID is the effective user of the process, unless the process must not be dumped (proc(5)).
Result<std::vector<pid_t>> processes_of_user(const std::string& user) {
    const auto id = user_id(user);
    if (!id)
        return std::unexpected(
            bad_option("-u " + user, "there is no such user", "give a name of /etc/passwd or a number"));
    std::vector<pid_t> processes;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const auto process = whole_number(entry.path().filename().native());
        struct stat about{};
        if (!process || ::stat(entry.path().c_str(), &about) != 0 || about.st_uid != *id) continue;
        if (static_cast<pid_t>(*process) != ::getpid()) processes.push_back(static_cast<pid_t>(*process));
    }
    if (processes.empty())
        return std::unexpected(Error{fmt::format("cannot record the user {}", user), "no process of this user runs",
                                     "start it first; or record with -a"});
    std::ranges::sort(processes);
    return processes;
}

}  // namespace anyperf::cli::record
