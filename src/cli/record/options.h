// options.h: the options of `anyperf record`: the words that the parser stores, and the values that check() makes of
// them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/command/backend.h"
#include "cli/command/event_filters.h"
#include "cli/record/output_files.h"
#include "recording/sampling.h"

namespace CLI {
class App;
}

namespace anyperf::cli::record {

struct Options {
    /// As parsed. Lists are as the user typed them.
    std::vector<std::string> events;
    std::vector<std::string> pids;
    std::vector<std::string> tids;
    std::vector<std::string> branch_filters;  ///< -j
    std::vector<std::string> filters;         ///< --filter
    std::optional<std::string> cgroup;
    std::string cpu_list;
    std::string frequency;
    std::string call_graph;
    std::string ring_size;                            ///< -m: pages, or bytes with a unit
    std::string largest;                              ///< --max-size
    std::string clock;                                ///< -k
    std::string user;                                 ///< -u: a name or a number
    std::string user_registers, interrupt_registers;  ///< --user-regs, --intr-regs: names; "all"
    unsigned realtime_priority = 0;                   ///< -r; 0: the recorder keeps its own
    std::string output = "perf.data";
    std::uint64_t period = 0;                   ///< 0: by frequency
    std::int64_t delay_ms = 0;                  ///< kDelayForever: until --control or the program enables
    std::string control;                        ///< --control: see control_channel.h
    std::string switch_output;                  ///< --switch-output: see output_files.h; empty: one file
    std::vector<std::string> switch_at_events;  ///< --switch-output-event
    std::size_t most_files = 0;                 ///< --switch-max-files; 0: all
    bool timestamp_file = false;                ///< --timestamp-filename
    std::string threads;        ///< --threads: see recording/drain_threads.h; empty: one thread empties all rings
    bool off_cpu = false;       ///< --off-cpu
    bool overwrite = false;     ///< --overwrite
    int compression_level = 1;  ///< from `level`
    bool system_wide = false;
    bool frame_pointers = false;  ///< -g
    bool any_branch = false;      ///< -b
    bool data_addresses = false;
    bool weights = false;
    bool switch_events = false;
    bool compressed = false;
    bool python = false;     ///< --python: demands Python functions among the callers
    bool no_python = false;  ///< --no-python
    bool no_inherit = false;
    bool quiet = false;
    bool exact = false;    ///< --exact
    bool verbose = false;  ///< -v: notes the attrs that were opened
    bool dry_run = false;  ///< --dry-run
    bool all_user = false;
    bool all_kernel = false;
    std::optional<int> level;  ///< --compression-level, which implies -z
    BackendOptions backend;

    /// Filled by check() from the texts above; `command` by the caller.
    std::vector<std::string> command;
    std::vector<EventFilter> event_filters;  ///< assign_filters(), by the caller, too
    std::vector<pid_t> pid_numbers;
    std::vector<pid_t> tid_numbers;
    std::vector<int> cpus;
    recording::SamplingOptions sampling;
    SwitchMode switch_mode;
    std::size_t ring_bytes = 0;       ///< 0: the default
    std::uint64_t largest_bytes = 0;  ///< 0: no limit

    /// Whether the command itself is recorded. With -p, -t, -a, -C or -G it only limits the time.
    bool targets_command() const {
        return !command.empty() && pid_numbers.empty() && tid_numbers.empty() && !is_cpu_wide();
    }
    bool is_cpu_wide() const { return system_wide || !cpus.empty() || cgroup.has_value(); }
    bool to_pipe() const { return output == "-"; }
};

/// Whether the only event is `instructions` or `instructions:u`.
bool counts_only_instructions(const Options& options);

/// Whether the virtual PMU counts exactly instead of sampling: with --exact, and with a sample of each instruction (-c
/// 1 -e instructions) if no option needs samples. Precondition: check().
bool wants_exact(const Options& options);

/// Adds the options to the verb. `options` must live until the command line is parsed.
void declare_options(CLI::App& verb, Options& options);

/// Parses numbers and lists, and checks the combination of options. Error: names the wrong option and the reason.
Result<void> check(Options& options);

}  // namespace anyperf::cli::record
