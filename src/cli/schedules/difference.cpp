// difference.cpp: reads two logs of --log-schedule side by side, one line at a time: they may be larger than memory,
// and only the first difference matters. Every later line may differ only because of it. So beside the two lines that
// differ it shows where the same thread was last in both logs.
#include "cli/schedules/difference.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace anyperf::cli::schedules {

namespace {

/// The first word of a line.
std::string thread_of(const std::string& line) {
    return line.substr(0, line.find(' '));
}

/// A line without its thread: "after 1234 instructions: read(…) = …".
std::string event_of(const std::string& line) {
    if (line.empty()) return "(the log ends)";
    const auto thread_end = line.find(' ');
    const auto count_end = thread_end == std::string::npos ? thread_end : line.find(' ', thread_end + 1);
    if (count_end == std::string::npos) return line;
    return fmt::format("thread {} after {} instructions: {}", line.substr(0, thread_end),
                       line.substr(thread_end + 1, count_end - thread_end - 1), line.substr(count_end + 1));
}

}  // namespace

std::optional<Difference> find_difference(std::istream& first, std::istream& second) {
    std::map<std::string, std::pair<std::size_t, std::string>> last;  // line of each thread
    for (std::size_t number = 1;; ++number) {
        std::string one, other;
        const bool has_one = static_cast<bool>(std::getline(first, one));
        const bool has_other = static_cast<bool>(std::getline(second, other));
        if (!has_one && !has_other) return std::nullopt;
        if (has_one && has_other && one == other) {
            last[thread_of(one)] = {number, one};
            continue;
        }
        Difference difference{number, has_one ? one : "", has_other ? other : "", "", "", 0};
        difference.thread = thread_of(has_one ? one : other);
        if (const auto at = last.find(difference.thread); at != last.end())
            std::tie(difference.before_line, difference.before) = at->second;
        return difference;
    }
}

std::string describe(const Difference& difference, const std::string& first_name, const std::string& second_name) {
    std::string text = fmt::format("The schedules part at line {}.\n", difference.line);
    text += fmt::format("  {}: {}\n", first_name, event_of(difference.first));
    text += fmt::format("  {}: {}\n", second_name, event_of(difference.second));
    if (!difference.before.empty())
        text += fmt::format("The last that both have of thread {}, line {}:\n  {}\n", difference.thread,
                            difference.before_line, event_of(difference.before));
    return text;
}

}  // namespace anyperf::cli::schedules
