#include "host/process/process_status.h"

#include <array>
#include <charconv>
#include <ranges>

namespace anyperf::host {

namespace {

/// 0 if the text is not a number.
template <class Number>
Number number(std::string_view text, int base = 10) {
    Number value{};
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

/// The line has four uids, separated by tabs: real, effective, saved, file system.
void read_uids(ProcessStatus& status, std::string_view value) {
    status.real_uid = number<std::uint32_t>(value);
    const auto tab = value.find('\t');
    if (tab != value.npos) status.effective_uid = number<std::uint32_t>(value.substr(tab + 1));
}

/// A line of the file, by its name, and where its value goes.
struct Field {
    std::string_view name;
    void (*store)(ProcessStatus&, std::string_view);
};

// The lines of /proc/PID/status are found by their names: newer kernels add lines in between (proc_pid_status(5)).
constexpr std::array kFields{
    Field{"Name", [](ProcessStatus& status, std::string_view value) { status.name = value; }},
    Field{"State",
          [](ProcessStatus& status, std::string_view value) { status.state = value.empty() ? '?' : value[0]; }},
    Field{"Uid", read_uids},
    Field{"CapPrm", [](ProcessStatus& s, std::string_view value) { s.permitted = number<std::uint64_t>(value, 16); }},
    Field{"CapEff", [](ProcessStatus& s, std::string_view value) { s.effective = number<std::uint64_t>(value, 16); }},
    Field{"CapBnd", [](ProcessStatus& s, std::string_view value) { s.bounding = number<std::uint64_t>(value, 16); }},
    Field{"NoNewPrivs", [](ProcessStatus& s, std::string_view value) { s.no_new_privileges = value == "1"; }},
    Field{"Seccomp", [](ProcessStatus& s, std::string_view value) { s.seccomp_mode = number<int>(value); }},
    Field{"Seccomp_filters", [](ProcessStatus& s, std::string_view value) { s.seccomp_filters = number<int>(value); }},
};

}  // namespace

std::optional<ProcessStatus> process_status(const Root& root, std::string_view process) {
    const auto text = root.read("/proc/" + std::string{process} + "/status");
    if (!text) return std::nullopt;
    ProcessStatus status;
    for (const auto line : std::views::split(*text, '\n')) {
        const std::string_view whole{line.begin(), line.end()};
        const auto colon = whole.find(":\t");
        if (colon == whole.npos) continue;
        for (const Field& field : kFields)
            if (field.name == whole.substr(0, colon)) field.store(status, whole.substr(colon + 2));
    }
    return status;
}

}  // namespace anyperf::host
