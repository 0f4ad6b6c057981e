// proc_task.cpp: reads files of /proc/PID and finds fields in them.
#include "broker/host/proc_task.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace anyperf::broker {

namespace {

std::string task_file(std::int32_t pid, std::int32_t tid, const char* name) {
    return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/" + name;
}

std::string text_of(const std::string& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The decimal number after blanks; 0 if there is none.
std::uint64_t number_in(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The rest of the line that begins with `name`, blanks and ':'; empty if there is none.
std::string_view field_in(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (line.starts_with(name)) {
            const std::size_t colon = line.find_first_not_of(' ', name.size());
            if (colon != std::string_view::npos && line[colon] == ':') return line.substr(colon + 1);
        }
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return {};
}

/// The inode of the thread's user namespace; 0 if /proc does not say.
std::uint64_t user_namespace_of(const std::string& task) {
    struct stat about{};
    return ::stat(("/proc/" + task + "/ns/user").c_str(), &about) == 0 ? about.st_ino : 0;
}

}  // namespace

// The first number of schedstat: ns on a CPU (Documentation/scheduler/sched-stats.rst). The file is missing without
// CONFIG_SCHED_INFO.
std::optional<std::uint64_t> time_on_cpu(std::int32_t pid, std::int32_t tid) {
    const std::string text = text_of(task_file(pid, tid, "schedstat"));
    if (text.empty()) return std::nullopt;
    return number_in(text);
}

std::optional<std::uint64_t> context_switches_of(std::int32_t pid, std::int32_t tid) {
    const std::string status = text_of(task_file(pid, tid, "status"));
    if (status.empty()) return std::nullopt;
    return number_in(field_in(status, "voluntary_ctxt_switches")) +
           number_in(field_in(status, "nonvoluntary_ctxt_switches"));
}

// /proc/PID/sched exists with CONFIG_SCHED_DEBUG only. Without it the result is nothing, which is not the same as 0.
std::optional<std::uint64_t> cpu_migrations_of(std::int32_t pid, std::int32_t tid) {
    const std::string text = text_of(task_file(pid, tid, "sched"));
    const std::string_view field = field_in(text, "se.nr_migrations");
    if (field.empty()) return std::nullopt;
    return number_in(field);
}

bool shares_user_namespace(std::int32_t tid) {
    static const std::uint64_t own = user_namespace_of("self");
    return user_namespace_of(std::to_string(tid)) == own;
}

std::uint64_t capability_set(std::int32_t tid, const std::string& name) {
    std::uint64_t capabilities = 0;
    const std::string set = status_field(tid, name);
    const std::size_t digit = set.find_first_not_of(" \t");
    if (digit != std::string::npos) std::from_chars(set.data() + digit, set.data() + set.size(), capabilities, 16);
    return capabilities == 0 || shares_user_namespace(tid) ? capabilities : 0;
}

std::vector<std::uint64_t> numbers_of(const std::string& text) {
    std::vector<std::uint64_t> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        if (*at < '0' || *at > '9') {
            ++at;
            continue;
        }
        std::uint64_t number = 0;
        at = std::from_chars(at, end, number).ptr;
        numbers.push_back(number);
    }
    return numbers;
}

// When a file is opened the kernel compares its owner with the filesystem user id (credentials(7)), unless the thread
// has CAP_DAC_OVERRIDE.
bool may_write_for(std::int32_t tid, std::uint32_t user) {
    constexpr unsigned kDacOverride = 1;
    if ((capability_set(tid, "CapEff") >> kDacOverride & 1) != 0) return true;
    const std::string ids = status_field(tid, "Uid");  // real, effective, saved, filesystem
    const std::size_t last = ids.find_last_of("\t ");
    return last != std::string::npos && number_in(std::string_view{ids}.substr(last)) == user;
}

std::string status_field(std::int32_t pid, const std::string& name) {
    return std::string{field_in(text_of("/proc/" + std::to_string(pid) + "/status"), name)};
}

}  // namespace anyperf::broker
