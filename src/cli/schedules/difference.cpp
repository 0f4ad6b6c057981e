// difference.cpp: reads two logs of --log-schedule side by side, one line at a time: they may be larger than memory,
// and only the first difference matters. Every later line may differ only because of it. So beside the two lines that
// differ it shows where the same thread was last in both logs.
#include "cli/schedules/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "try.h"

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

/// Removes a decimal number and the blank after it. False: the text does not begin so.
bool take_number(std::string_view& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with(' ')) return false;
    text.remove_prefix(1);
    return true;
}

/// Whether it is a line of a log: "THREAD INSTRUCTIONS WHAT" (engine/log.h).
bool is_line_of_log(std::string_view line) {
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
    for (int i = 0; i < 2; ++i)
        if (!take_number(line)) return false;
    return !line.empty() && std::ranges::none_of(line, is_control);
}

constexpr std::size_t kLongestLine = 1024;  // of Line in engine/freestanding/text.h

Error no_log(const Log& log, std::string cause) {
    return {"cannot compare " + log.name, std::move(cause),
            "make it with anyperf run --deterministic --log-schedule FILE"};
}

/// The next line of the log, which has this number; none at its end.
Result<std::optional<std::string>> next_line(const Log& log, std::size_t number) {
    std::array<char, kLongestLine + 1> buffer;
    errno = 0;
    log.text.getline(buffer.data(), buffer.size());
    auto length = static_cast<std::size_t>(log.text.gcount());
    if (length == 0 && errno != 0) return std::unexpected(no_log(log, std::generic_category().message(errno)));
    if (length == 0 && number == 1) return std::unexpected(no_log(log, "it is empty"));
    if (length == 0) return std::nullopt;
    const bool is_whole = !log.text.fail();
    if (is_whole && !log.text.eof()) --length;  // without the line end, which gcount() counts
    std::string line{buffer.data(), length};
    if (is_whole && is_line_of_log(line)) return line;
    constexpr std::size_t kShown = 60;
    return std::unexpected(
        no_log(log, fmt::format("line {} is not a line of a schedule's log (THREAD INSTRUCTIONS WHAT): {}", number,
                                line.substr(0, kShown))));
}

}  // namespace

Result<std::optional<Difference>> find_difference(const Log& first, const Log& second) {
    std::map<std::string, std::pair<std::size_t, std::string>> last;  // line of each thread
    for (std::size_t number = 1;; ++number) {
        const auto one = TRY(next_line(first, number));
        const auto other = TRY(next_line(second, number));
        if (!one && !other) return std::nullopt;
        if (one == other) {
            last[thread_of(*one)] = {number, *one};
            continue;
        }
        Difference difference{number, one.value_or(""), other.value_or(""), "", "", 0};
        difference.thread = thread_of(one ? *one : *other);
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
