#include "host/process/process_limits.h"

#include <charconv>
#include <sstream>

namespace anyperf::host {

namespace {

/// The number that the word is; kUnlimited for "unlimited" and any other word that is no number.
std::uint64_t amount(const std::string& word) {
    std::uint64_t value = kUnlimited;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
}

}  // namespace

// A line of /proc/PID/limits: name, soft limit, hard limit, unit, in columns (proc_pid_limits(5)).
std::optional<ProcessLimit> process_limit(const Root& root, std::string_view name) {
    const auto text = root.read("/proc/self/limits");
    if (!text) return std::nullopt;
    const auto start = text->find(name);
    if (start == text->npos) return std::nullopt;
    std::istringstream words{text->substr(start + name.size(), 60)};
    std::string soft, hard;
    words >> soft >> hard;
    return ProcessLimit{amount(soft), amount(hard)};
}

}  // namespace anyperf::host
