// option_rules.cpp: declares the options of option_rules.h, and has the table of combinations that are refused.
#include "cli/stat/option_rules.h"

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>

#include "cli/command/target_options.h"
#include "cli/option_checks.h"
#include "cli/stat/output/machine_table.h"

namespace anyperf::cli::stat {

namespace {

/// A combination of options that is refused. CLI11's own `excludes` knows only pairs of options and gives no reason.
struct Rule {
    bool (*broken)(const Options&);
    std::string_view option;  ///< the option that the message names
    std::string_view cause;
    std::string_view fix;
};

/// Whether -p or -t names tasks.
bool counts_tasks(const Options& options) {
    return !options.pid_numbers.empty() || !options.tid_numbers.empty();
}

/// Whether -G names more than one cgroup.
bool names_several(const std::vector<std::string>& cgroups) {
    return cgroups.size() > 1 || (cgroups.size() == 1 && cgroups.front().find(',') != std::string::npos);
}

/// A flag that adds up counts by a level of the machine.
struct LevelFlag {
    bool Options::* flag;
    CpuLevel level;
    const char* option;
    const char* help;
};
constexpr std::array kLevelFlags{
    LevelFlag{&Options::per_core, CpuLevel::core, "--per-core", "a line for each core"},
    LevelFlag{&Options::per_die, CpuLevel::die, "--per-die", "a line for each die"},
    LevelFlag{&Options::per_socket, CpuLevel::socket, "--per-socket", "a line for each socket"},
    LevelFlag{&Options::per_node, CpuLevel::node, "--per-node", "a line for each NUMA node"},
};

/// How many options were given that define what one line of the results covers.
int line_options(const Options& options) {
    int given = (options.per_thread ? 1 : 0) + (options.per_cpu ? 1 : 0);
    for (const LevelFlag& row : kLevelFlags) given += options.*row.flag ? 1 : 0;
    return given;
}

/// Whether --machine names several machines, and the options ask for something that the table with a column for each
/// does not have.
bool needs_one_machine(const Options& options) {
    if (machines_of(options.backend.machine.machine).size() < 2) return false;
    return options.format != Format::table || options.interval_ms != 0 || options.repeats_forever() ||
           options.metric_only || !options.metrics.empty() || options.topdown || !options.baseline.empty() ||
           !options.gates.empty() || !options.control.empty() || options.counts_cgroups() || line_options(options) > 0;
}

/// The rules are checked in this order, and the first that is broken is reported. Each cause says why the combination
/// has no meaning.
constexpr std::array kRules{
    Rule{[](const Options& options) { return line_options(options) > 1; }, "combination of lines",
         "-A, --per-core, --per-die, --per-socket, --per-node and --per-thread each say what is one line",
         "give one of them"},
    Rule{[](const Options& options) { return !options.pid_numbers.empty() && !options.tid_numbers.empty(); }, "-t",
         "-p names tasks, too", "give one of them; -p counts all threads of the processes"},
    Rule{[](const Options& options) {
             return options.per_thread && (!options.cpus.empty() || options.counts_cgroups());
         },
         "--per-thread", "-C and -G count CPUs, whatever thread runs there",
         "use -a for all threads, -p PIDS for those of processes, or -t TIDS"},
    Rule{[](const Options& options) { return options.per_thread && !options.system_wide && !counts_tasks(options); },
         "--per-thread", "the threads of a command are not known before it runs",
         "use it with -p or -t, or with -a for all threads of the machine"},
    Rule{[](const Options& options) { return options.all_threads() && options.repeat != 1; }, "-r",
         "the threads of the machine are others in each run, so --per-thread has no mean", "leave out one of them"},
    Rule{[](const Options& options) { return !options.each_cgroup.empty() && !options.cgroups.empty(); },
         "--for-each-cgroup", "-G names cgroups, too", "give one of them"},
    Rule{[](const Options& options) { return !options.metrics.empty() && options.no_events; }, "-M",
         "-n counts no events", "leave out one of them"},
    Rule{[](const Options& options) { return !options.metrics.empty() && options.topdown; }, "-M",
         "--topdown chooses the events itself", "leave out one of them; -M TopdownL1 is the same where the CPU has it"},
    Rule{[](const Options& options) { return !options.metrics.empty() && names_several(options.cgroups); }, "-G",
         "each of several cgroups is for one event, and a metric has several events", "use --for-each-cgroup"},
    Rule{[](const Options& options) {
             return options.metrics.empty() && (options.metric_no_group || options.metric_no_merge);
         },
         "--metric-no-group", "it is about the events of -M", "add -M METRIC, or leave it out"},
    Rule{[](const Options& options) { return !options.filters.empty() && options.no_events; }, "--filter",
         "-n counts no events", "leave out one of them"},
    Rule{[](const Options& options) {
             return options.topdown && (options.backend.wants_virtual() || options.in_user_space);
         },
         "--topdown", "the virtual PMU has no model of a pipeline",
         "use --kernel, outside anyperf run, on a machine with a PMU"},
    Rule{[](const Options& options) { return options.topdown && (options.no_events || !options.events.empty()); },
         "--topdown", "it chooses the events itself", "leave out -e and -n"},
    Rule{[](const Options& options) { return options.topdown && (options.repeat != 1 || !options.baseline.empty()); },
         "--topdown", "it prints no counts that -r or --baseline could compare", "use -I MS, or leave out one of them"},
    Rule{needs_one_machine, "--machine with several machines",
         "their table has a row for each event and a column for each machine, and nothing else",
         "name one machine, or leave out -x, -j, -I, -M, --control, --baseline and options of places"},
    Rule{[](const Options& options) { return options.log_fd >= 0 && !options.output_file.empty(); }, "--log-fd",
         "-o names a file for the same results", "give one of them"},
    Rule{[](const Options& options) { return options.run_table && options.repeat < 2; }, "--table",
         "it lists the times of several runs", "add -r N, with N of 2 or more"},
    Rule{[](const Options& options) { return options.summary && options.interval_ms == 0; }, "--summary",
         "without intervals the results are the totals already", "add -I MS, or leave it out"},
    Rule{[](const Options& options) { return options.interval_clear && options.interval_ms == 0; }, "--interval-clear",
         "there are no intervals", "add -I MS"},
    Rule{[](const Options& options) { return options.interval_clear && options.format != Format::table; },
         "--interval-clear", "CSV and JSON are for programs, which have no screen", "leave it out"},
    Rule{[](const Options& options) { return options.sync && options.command.empty(); }, "--sync",
         "there is no command to measure after it", "add -- COMMAND"},
    Rule{[](const Options& options) {
             return options.no_csv_summary && (!options.summary || options.format != Format::csv);
         },
         "--no-csv-summary", "it is about the word in the CSV lines of --summary", "use it with -x SEP and --summary"},
    Rule{[](const Options& options) { return !options.pre_command.empty() && options.command.empty(); }, "--pre",
         "there is no command to measure after it", "add -- COMMAND"},
    Rule{[](const Options& options) { return !options.post_command.empty() && options.command.empty(); }, "--post",
         "there is no command to measure before it", "add -- COMMAND"},
    Rule{[](const Options& options) { return options.repeats_forever() && !options.baseline.empty(); }, "--baseline",
         "-r 0 prints run by run, and never a result to compare", "give -r a number above 0"},
};

}  // namespace

void declare_series_options(CLI::App& verb, Options& options) {
    verb.add_option("--pre", options.pre_command, "COMMAND: a shell runs it before each run")->type_name("");
    verb.add_option("--post", options.post_command, "COMMAND: a shell runs it after each run that succeeded")
        ->type_name("");
    verb.add_flag("--table", options.run_table, "with -r: the time of each run");
    verb.add_flag("-S,--sync", options.sync, "write cached data to the disks (sync) before each run");
}

void declare_event_options(CLI::App& verb, Options& options) {
    make_repeatable(verb.add_option("--filter", options.filters,
                                    "FILTER: count the tracepoints of the -e before it where FILTER holds"));
    make_repeatable(
        verb.add_option("-M,--metrics", options.metrics,
                        "METRICS: metrics or groups of metrics, separated by commas; anyperf list metrics shows them"));
    verb.add_flag("--metric-no-group", options.metric_no_group, "with -M: count the events of a metric separately");
    verb.add_flag("--metric-no-merge", options.metric_no_merge, "with -M: metrics share no events");
    verb.add_option("--for-each-cgroup", options.each_cgroup,
                    "CGROUPS: count all events for each of these cgroups, or those that match")
        ->type_name("");
    verb.add_flag("--topdown", options.topdown, "where the pipeline's slots go, where the CPU has events for that");
}

void declare_control_options(CLI::App& verb, Options& options) {
    verb.add_option("--control", options.control,
                    "fd:A[,B] | fifo:A[,B]: enable and disable events by lines from A, acknowledged to B")
        ->type_name("");
}

void declare_place_options(CLI::App& verb, Options& options) {
    verb.add_flag("--per-thread", options.per_thread, "a line for each thread (with -p, -t, -a)");
    for (const LevelFlag& row : kLevelFlags) verb.add_flag(row.option, options.*row.flag, row.help);
    verb.add_flag("--no-merge", options.no_merge, "a line for each PMU, where one name counts on several");
}

std::optional<CpuLevel> cpu_level_of(const Options& options) {
    for (const LevelFlag& row : kLevelFlags)
        if (options.*row.flag) return row.level;
    return std::nullopt;
}

void declare_output_options(CLI::App& verb, Options& options) {
    verb.add_option("--log-fd", options.log_fd, "N: write the results to this descriptor instead of standard error")
        ->type_name("")
        ->transform(whole_number_from(1, 1'000'000));
    verb.add_flag("--quiet", options.quiet, "print no results, only errors");
    verb.add_flag("--interval-clear", options.interval_clear, "with -I: clear the screen before each table");
    verb.add_flag("--summary", options.summary, "with -I: print the totals, too");
    verb.add_flag("--no-csv-summary", options.no_csv_summary, "with --summary: CSV lines without the word \"summary\"");
}

Result<void> check_rules(const Options& options) {
    for (const Rule& rule : kRules)
        if (rule.broken(options))
            return std::unexpected(
                Error{"bad " + std::string{rule.option}, std::string{rule.cause}, std::string{rule.fix}});
    return {};
}

}  // namespace anyperf::cli::stat
