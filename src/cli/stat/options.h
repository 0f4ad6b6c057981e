// options.h: the options of `anyperf stat`: as the parser stores them, and what is derived from them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/command/backend.h"
#include "cli/command/control_channel.h"
#include "cli/command/event_filters.h"

namespace CLI {
class App;
}

namespace anyperf::cli::stat {

/// The form of the results. `csv` is chosen by --csv or -x.
enum class Format { table, csv, json };

/// One --fail-above: how much an event may grow over the baseline.
struct Gate {
    std::string event;   ///< empty: every event
    double percent = 0;  ///< growth above this fails; 0 or more
};

/// One --gate-report, or one --report of bench.
struct GateReport {
    std::string format;  ///< a name in kFormats (gate/gate_report.cpp, bench/reports.cpp)
    std::string file;    ///< "-": standard output
};

/// A level of the machine by which counts are added up. `node` is a NUMA node.
enum class CpuLevel { core, die, socket, node };

struct Options {
    /// As parsed. The names are those of the long options. Lists have the texts that the user typed.
    std::vector<std::string> events;
    std::vector<std::string> pids;
    std::vector<std::string> tids;
    std::vector<std::string> cgroups;
    std::vector<std::string> filters;
    std::vector<std::string> metrics;  ///< -M
    std::string each_cgroup;           ///< --for-each-cgroup
    std::vector<std::string> fail_above;
    std::vector<std::string> gate_reports;
    std::string cpu_list;
    std::string separator;  ///< -x; check() sets it for --csv, too
    std::string output_file;
    std::string baseline;
    std::string control;           ///< --control: "fd:3,4"
    std::string pre_command;       ///< --pre: run by a shell before each run of the command
    std::string post_command;      ///< --post: run by a shell after each run that succeeded
    int detail = 0;                ///< how often -d was given
    int repeat = 1;                ///< 0: until the user interrupts
    int log_fd = -1;               ///< the descriptor for the results; -1: not given
    std::int64_t interval_ms = 0;  ///< 0: no intervals
    int interval_count = 0;        ///< 0: no limit
    std::int64_t timeout_ms = 0;   ///< 0: no timeout
    std::int64_t delay_ms = 0;     ///< 0: count from the start; kDelayForever: until --control or the program enables
    bool system_wide = false;
    bool per_thread = false;
    bool per_cpu = false;
    bool per_core = false;
    bool per_die = false;
    bool per_socket = false;
    bool per_node = false;
    bool no_merge = false;
    bool csv = false;
    bool json = false;
    bool metric_only = false;
    bool metric_no_group = false;
    bool metric_no_merge = false;
    bool topdown = false;
    bool append = false;
    bool update_baseline = false;
    bool quiet = false;
    bool run_table = false;       ///< --table
    bool sync = false;            ///< write what the kernel has cached to the disks before each run
    bool interval_clear = false;  ///< with -I: clear the screen before each table
    bool summary = false;         ///< with -I: the totals, too
    bool no_csv_summary = false;  ///< in CSV the totals do not begin with the word "summary"
    bool verbose = false;
    bool no_events = false;  ///< --null
    bool big_num = true;
    bool no_inherit = false;
    bool all_user = false;
    bool all_kernel = false;
    BackendOptions backend;

    /// Derived from the above. check() fills in the numbers, `cpus`, `gates`, `format` and `in_user_space`,
    /// assign_filters() `event_filters`, and stat.cpp the others.
    std::vector<std::string> command;
    std::vector<pid_t> pid_numbers;
    std::vector<pid_t> tid_numbers;
    std::vector<int> cpus;
    std::vector<Gate> gates;
    std::vector<GateReport> parsed_gate_reports;
    std::vector<EventFilter> event_filters;
    std::optional<CpuLevel> cpu_level;  ///< of --per-core, --per-die, --per-socket or --per-node
    Format format = Format::table;
    bool in_user_space = false;         ///< the virtual PMU counts: that of the run around this process, or of `hosted`
    HostedRun* hosted = nullptr;        ///< the run that this process hosts for its command; null: none
    std::string modelled_machine = "";  ///< of the virtual PMU: the machine whose caches and branches are modelled
    std::string virtual_reason = "";    ///< why the kernel does not count; empty: the user asked for the virtual PMU

    /// Whether lines are for CPUs or levels of CPUs. The event of a task is then opened once for each CPU.
    bool splits_by_cpu() const { return per_cpu || cpu_level; }
    /// Whether every thread of the machine has a line.
    bool all_threads() const { return per_thread && system_wide; }
    /// Whether the command is repeated until the user interrupts.
    bool repeats_forever() const { return repeat == 0; }
    /// Whether results go to standard error. A line for people would then be among them.
    bool writes_to_standard_error() const { return output_file.empty() && log_fd < 0; }

    /// What opens the events, and the run in which the command starts (null: none).
    counting::Kernel& kernel() const { return hosted != nullptr ? hosted->kernel() : counting::system_kernel(); }
    broker::HostedRun* hosting() const { return hosted != nullptr ? &hosted->hosting() : nullptr; }

    /// Whether events are counted for the command itself, not for other tasks or CPUs while it runs.
    bool targets_command() const {
        return !command.empty() && pid_numbers.empty() && tid_numbers.empty() && cpus.empty() && !system_wide &&
               !counts_cgroups();
    }
    /// Whether only tasks of cgroups are counted.
    bool counts_cgroups() const { return !cgroups.empty() || !each_cgroup.empty(); }
};

/// Adds most options to the verb; option_rules.h adds the others. `options` must live until the command line is parsed.
void declare_options(CLI::App& verb, Options& options);

/// Parses numbers and lists, and checks the combination of options. Error: names the wrong option and the reason.
Result<void> check(Options& options);

}  // namespace anyperf::cli::stat
