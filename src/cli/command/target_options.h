// target_options.h: the options that say which tasks and CPUs a verb measures: -p, -t, -a, -C and -i, as perf-stat(1)
// and perf-record(1) have them. Also what the declarations of all verbs with a command have in common.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace anyperf::cli {

/// Lets an option be given several times, with one word each time: without that CLI11 would take the command's words as
/// further values. Metavariables are part of the texts, so that --help shows perf's names.
void make_repeatable(CLI::Option* option);

/// Where a verb stores the options. The members must live until the command line is parsed.
struct TargetOptions {
    std::vector<std::string>& pids;
    std::vector<std::string>& tids;
    bool& system_wide;
    std::string& cpu_list;
    bool& no_inherit;
};
void declare_target_options(CLI::App& verb, TargetOptions targets);

/// The common form of errors in options: "bad -p x", the cause, the fix.
Error bad_option(std::string_view option, std::string_view cause, std::string_view fix);

/// The whole text as a number; nothing if it is anything else, or out of range.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// The pieces between commas; an empty piece stays, so that it is reported.
std::vector<std::string_view> split_at_commas(std::string_view text);

/// The ids of every occurrence of -p or -t, sorted, each once. `option` is for the error.
Result<std::vector<pid_t>> parse_ids(const std::vector<std::string>& texts, std::string_view option);

}  // namespace anyperf::cli
