// target_options.cpp: the options that several verbs share, and the parsing of their values. CLI11 collects the texts.
// The numbers are parsed here, so that a message can say which of them is wrong, and why.
#include "cli/command/target_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

namespace anyperf::cli {

void make_repeatable(CLI::Option* option) {
    option->allow_extra_args(false)->type_name("")->take_all();
}

void declare_target_options(CLI::App& verb, TargetOptions targets) {
    make_repeatable(verb.add_option("-p,--pid", targets.pids, "PIDS: all threads of these processes"));
    make_repeatable(verb.add_option("-t,--tid", targets.tids, "TIDS: these threads"));
    verb.add_flag("-a,--all-cpus", targets.system_wide, "everything on every CPU");
    verb.add_option("-C,--cpu", targets.cpu_list, "CPUS: everything on these CPUs: 0-3,7")->type_name("");
    verb.add_flag("-i,--no-inherit", targets.no_inherit, "leave out threads and processes created meanwhile");
}

Error bad_option(std::string_view option, std::string_view cause, std::string_view fix) {
    return Error{fmt::format("bad {}", option), std::string{cause}, std::string{fix}};
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
    std::vector<std::string_view> pieces;
    while (true) {
        const auto comma = text.find(',');
        pieces.push_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return pieces;
        text.remove_prefix(comma + 1);
    }
}

// Each id is kept once: one that is given twice must not be counted twice.
Result<std::vector<pid_t>> parse_ids(const std::vector<std::string>& texts, std::string_view option) {
    constexpr std::uint64_t kMost = 1 << 22;  // PID_MAX_LIMIT of 64-bit kernels
    std::vector<pid_t> ids;
    for (const auto& text : texts) {
        for (const auto word : split_at_commas(text)) {
            const auto id = whole_number(word);
            if (!id || *id == 0 || *id > kMost)
                return std::unexpected(bad_option(fmt::format("{} {}", option, text),
                                                  fmt::format("\"{}\" is not the number of a process or thread", word),
                                                  "give numbers, separated by commas; `pgrep NAME` finds them"));
            ids.push_back(static_cast<pid_t>(*id));
        }
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return ids;
}

}  // namespace anyperf::cli
