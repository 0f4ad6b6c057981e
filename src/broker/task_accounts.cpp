// task_accounts.cpp: see task_accounts.h.
#include "broker/task_accounts.h"

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

std::uint64_t number_in(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The value behind "NAME", blanks and ':' at a line's start.
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

}  // namespace

std::optional<std::uint64_t> time_on_cpu(std::int32_t pid, std::int32_t tid) {
    const std::string text = text_of(task_file(pid, tid, "schedstat"));
    if (text.empty()) return std::nullopt;
    return number_in(text);
}

std::optional<std::uint64_t> switches_of(std::int32_t pid, std::int32_t tid) {
    const std::string status = text_of(task_file(pid, tid, "status"));
    if (status.empty()) return std::nullopt;
    return number_in(field_in(status, "voluntary_ctxt_switches")) +
           number_in(field_in(status, "nonvoluntary_ctxt_switches"));
}

std::optional<std::uint64_t> moves_of(std::int32_t pid, std::int32_t tid) {
    const std::string text = text_of(task_file(pid, tid, "sched"));
    const std::string_view field = field_in(text, "se.nr_migrations");
    if (field.empty()) return std::nullopt;
    return number_in(field);
}

std::string status_field(std::int32_t pid, const std::string& name) {
    return std::string{field_in(text_of("/proc/" + std::to_string(pid) + "/status"), name)};
}

}  // namespace anyperf::broker
