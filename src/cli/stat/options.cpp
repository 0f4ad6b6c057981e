// options.cpp: declares, parses and checks the options of stat. An option of perf has the letter and name of
// perf-stat(1).
#include "cli/stat/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "cli/command/target_options.h"
#include "cli/option_checks.h"
#include "host/hardware/cpus.h"
#include "try.h"

namespace anyperf::cli::stat {

namespace {

/// The whole text as a number; no value if it is anything else, or out of range.
std::optional<double> number(std::string_view text) {
    double value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// "5", "5%", "EVENT=5", "EVENT=5%". Event names may contain '=' (PMU terms), so the last one separates.
Result<Gate> parse_gate(const std::string& text) {
    const auto equals = text.rfind('=');
    Gate parsed;
    std::string_view percent = text;
    if (equals != std::string::npos) {
        parsed.event = text.substr(0, equals);
        percent.remove_prefix(equals + 1);
    }
    if (percent.ends_with('%')) percent.remove_suffix(1);
    const auto value = number(percent);
    if (!value || !(*value >= 0))  // written so that it refuses NaN, too
        return std::unexpected(bad_option("--fail-above " + text,
                                          "\"" + std::string{percent} + "\" is not a percentage >= 0",
                                          "--fail-above 5 for every event, --fail-above instructions=1 for one"));
    parsed.percent = *value;
    return parsed;
}

/// Checks for options that make no sense together.
Result<void> check_combinations(const Options& options) {
    // Targets: perf_event_open(2) counts a task or all tasks of a CPU, and a cgroup only on CPUs.
    const bool tasks = !options.pid_numbers.empty() || !options.tid_numbers.empty();
    const bool wide = options.system_wide || !options.cpus.empty() || options.counts_cgroups();
    if (options.command.empty() && !tasks && !wide)
        return std::unexpected(Error{"nothing to count", "there is no command and no -p, -t, -a, -C or -G",
                                     "anyperf stat -- COMMAND, or anyperf stat -p PID"});
    if (tasks && wide)
        return std::unexpected(bad_option("combination of targets", "-p and -t name tasks, -a, -C and -G name CPUs",
                                          "give one kind of target"));
    // Only the broker of a run has the virtual PMU's counters, and only programs that it started are translated.
    if (options.backend.wants_virtual() && !options.in_user_space && !options.targets_command())
        return std::unexpected(bad_option(
            "--virtual", "the virtual PMU counts only programs that anyperf starts, not those already running",
            "anyperf stat --virtual -- COMMAND, or inside anyperf run -- sh: anyperf stat -p PID"));
    // With -p or -t the command is not measured, but only limits the time, so a second run of it would repeat nothing.
    if (options.repeat != 1 && (options.command.empty() || tasks))
        return std::unexpected(bad_option("-r", "there is no command to repeat", "anyperf stat -r 5 -- COMMAND"));
    if (options.metric_only && (options.repeat > 1 || !options.baseline.empty()))
        return std::unexpected(bad_option("--metric-only", "it prints no counts that -r or --baseline could compare",
                                          "use one or the other"));
    for (const auto& [given, name] : {std::pair{!options.gate_reports.empty(), "--gate-report"},
                                      std::pair{options.update_baseline, "--update-baseline"}})
        if (given && options.baseline.empty())
            return std::unexpected(bad_option(name, "there is no baseline", "add --baseline FILE"));
    if (!options.gates.empty() && options.baseline.empty())
        return std::unexpected(
            bad_option("--fail-above", "there is no baseline to compare with", "add --baseline FILE"));
    if (!options.baseline.empty() && options.interval_ms > 0)
        return std::unexpected(
            bad_option("--baseline", "it compares whole runs, but -I prints intervals", "leave out one of them"));
    if (options.all_user && options.all_kernel)
        return std::unexpected(bad_option("--all-user", "cannot be combined with --all-kernel", "give one of them"));
    if (options.append && options.writes_to_standard_error())
        return std::unexpected(bad_option("--append", "there is no file to append to", "add -o FILE"));
    if (options.interval_count > 0 && options.interval_ms == 0)
        return std::unexpected(bad_option("--interval-count", "there are no intervals to count", "add -I MS"));
    if (options.json && (options.csv || !options.separator.empty()))
        return std::unexpected(
            bad_option("--json", "cannot be combined with --csv or -x, which are another format", "give one of them"));
    return {};
}

}  // namespace

void declare_options(CLI::App& verb, Options& options) {
    // The first word that is not an option begins the command. CLI11 does not parse the words from there on
    // (command_words.h).
    verb.prefix_command();
    verb.footer(
        "anyperf stat [OPTIONS] [--] COMMAND...\nanyperf stat [OPTIONS] {-p PIDS | -t TIDS | -a | -C CPUS} [[--] "
        "COMMAND...]");
    make_repeatable(verb.add_option("-e,--event", options.events,
                                    "EVENTS: in perf's syntax: cycles,{a,b},sched:*,mem:ADDR:w; repeatable"));
    declare_target_options(verb,
                           {options.pids, options.tids, options.system_wide, options.cpu_list, options.no_inherit});
    make_repeatable(verb.add_option("-G,--cgroup", options.cgroups,
                                    "CGROUPS: tasks of a cgroup: one for all events, or one for each"));
    verb.add_option("-I,--interval-print", options.interval_ms, "MS: print what was counted every MS milliseconds")
        ->type_name("")
        ->transform(whole_number_from(std::int64_t{1}, std::int64_t{86'400'000}));
    verb.add_option("--interval-count", options.interval_count, "N: end after N intervals")
        ->type_name("")
        ->transform(whole_number_from(1, 1'000'000'000));
    verb.add_option("-r,--repeat", options.repeat,
                    "N: run the command N times: mean, deviation, median; 0: until Ctrl-C")
        ->type_name("")
        ->transform(whole_number_from(0, 1'000'000));
    verb.add_flag("-A,--no-aggr,--per-cpu", options.per_cpu, "a line for each CPU");
    verb.add_flag("-d,--detailed", options.detail, "count more events; -dd and -ddd still more");
    verb.add_flag("--csv", options.csv, "print fields separated by commas, in perf's order");
    verb.add_option("-x,--field-separator", options.separator, "SEP: print fields separated by SEP")->type_name("");
    verb.add_flag("-j,--json,--json-output", options.json, "print one JSON object");
    verb.add_flag("--metric-only", options.metric_only, "print only the ratios computed from the counts, in a row");
    verb.add_option("-o,--output", options.output_file, "FILE: write the results to FILE instead of standard error")
        ->type_name("");
    verb.add_flag("--append", options.append, "append to that file");
    verb.add_option("--baseline", options.baseline, "FILE: compare with what --json printed earlier")->type_name("");
    make_repeatable(verb.add_option("--fail-above", options.fail_above,
                                    "PCT[%] | EVENT=PCT: exit with 3 if an event grew by more; repeatable"));
    make_repeatable(verb.add_option("--gate-report", options.gate_reports,
                                    "FORMAT=FILE: write the comparison as markdown, github, junit or benchmark"));
    verb.add_flag("--update-baseline", options.update_baseline, "write this run's report to the file of --baseline");
    verb.add_option("--timeout", options.timeout_ms, "MS: end the command and the counting after MS milliseconds")
        ->type_name("")
        ->transform(whole_number_from(std::int64_t{1}, std::int64_t{86'400'000'000}));
    verb.add_option("-D,--delay", options.delay_ms,
                    "MS: start counting MS milliseconds after the start; -1: when --control or the program says so")
        ->type_name("")
        ->transform(whole_number_from(kDelayForever, std::int64_t{86'400'000}));
    verb.add_flag("-n,--null", options.no_events, "count no events, only measure the time");
    verb.add_flag("-B,--big-num,!--no-big-num", options.big_num, "use thousands separators in the table (default: on)");
    verb.add_flag("--all-user", options.all_user, "count every event in user mode only");
    verb.add_flag("--all-kernel", options.all_kernel, "count every event in kernel mode only");
    declare_backend_options(verb, options.backend);
    verb.add_flag("-v,--verbose", options.verbose, "show what is opened, and why events are refused");
}

Result<void> check(Options& options) {
    // check_combinations() is last: it looks at the parsed values, and in_user_space decides whether --virtual is
    // allowed.
    options.pid_numbers = TRY(parse_ids(options.pids, "-p"));
    options.tid_numbers = TRY(parse_ids(options.tids, "-t"));
    if (!options.cpu_list.empty()) options.cpus = TRY(host::parse_cpu_list(options.cpu_list));
    // As in perf, --per-thread without a target means all threads of the machine.
    if (options.per_thread && options.command.empty() && options.pids.empty() && options.tids.empty() &&
        options.cpu_list.empty() && !options.counts_cgroups())
        options.system_wide = true;
    for (const auto& text : options.fail_above) options.gates.push_back(TRY(parse_gate(text)));
    if (options.csv && options.separator.empty()) options.separator = ",";
    if (options.separator == "\\t") options.separator = "\t";  // a backslash and t, as perf accepts it
    options.format = options.json ? Format::json : options.separator.empty() ? Format::table : Format::csv;
    options.in_user_space = TRY(already_in_run(options.backend));
    return check_combinations(options);
}

}  // namespace anyperf::cli::stat
