// target_options.h: the options that say which tasks and CPUs a verb measures: -p, -t, -a, -C and -i, as in
// perf-stat(1) and perf-record(1). Also what all verbs that run a command need for their options.
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

/// Lets an option be given several times, with one word each time; without that CLI11 would take the words of the
/// command for further values. Also removes CLI11's name for the value: each help text begins with perf's name for it
/// ("PIDS: …").
void make_repeatable(CLI::Option* option);

/// Where a verb stores the options. The members must live until the command line is parsed.
struct TargetOptions {
    std::vector<std::string>& pids;
    std::vector<std::string>& tids;
    bool& system_wide;
    std::string& cpu_list;
    bool& no_inherit;
};
/// Adds -p, -t, -a, -C and -i to `verb`.
void declare_target_options(CLI::App& verb, TargetOptions targets);

/// The common form of errors in options: "bad -p x", the cause, the fix.
Error bad_option(std::string_view option, std::string_view cause, std::string_view fix);

/// The whole text as a decimal number; no value if it is anything else, or out of range.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// The pieces between commas, as views into `text`. An empty piece is kept, so that it can be reported.
std::vector<std::string_view> split_at_commas(std::string_view text);

/// The ids of every occurrence of -p or -t, sorted, each once. `option` is for the error. Error: a piece is not a
/// number from 1 to 2^22, the kernel's limit on pids.
Result<std::vector<pid_t>> parse_ids(const std::vector<std::string>& texts, std::string_view option);

}  // namespace anyperf::cli
