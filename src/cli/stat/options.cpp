// options.cpp: see options.h.
#include "cli/stat/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "host/cpus.h"

namespace anyperf::cli::stat {

namespace {

Error bad_option(const std::string& what, std::string cause, std::string fix) {
    return {"bad " + what, std::move(cause), std::move(fix)};
}

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> pieces;
    while (true) {
        const auto comma = text.find(',');
        pieces.push_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return pieces;
        text.remove_prefix(comma + 1);
    }
}

Result<std::vector<pid_t>> ids(const std::vector<std::string>& texts, const char* option) {
    std::vector<pid_t> found;
    for (const auto& text : texts) {
        for (const auto piece : split(text)) {
            const auto id = number<pid_t>(piece);
            if (!id || *id <= 0)
                return std::unexpected(bad_option(std::string{option} + " " + text,
                                                  "\"" + std::string{piece} + "\" is no positive number",
                                                  "give numbers, separated by commas; `pgrep NAME` finds them"));
            found.push_back(*id);
        }
    }
    return found;
}

Result<Gate> gate(const std::string& text) {
    const auto equals = text.rfind('=');
    Gate parsed;
    std::string_view percent = text;
    if (equals != std::string::npos) {
        parsed.event = text.substr(0, equals);
        percent.remove_prefix(equals + 1);
    }
    if (percent.ends_with('%')) percent.remove_suffix(1);
    const auto value = number<double>(percent);
    if (!value || !(*value >= 0))
        return std::unexpected(bad_option("--fail-above " + text,
                                          "\"" + std::string{percent} + "\" is no percentage from 0 up",
                                          "--fail-above 5 for every event, --fail-above instructions=1 for one"));
    parsed.percent = *value;
    return parsed;
}

Result<void> check_combinations(const Options& options) {
    const bool tasks = !options.pid_numbers.empty() || !options.tid_numbers.empty();
    const bool wide = options.system_wide || !options.cpus.empty() || !options.cgroups.empty();
    if (options.command.empty() && !tasks && !wide)
        return std::unexpected(Error{"nothing to count", "there is no command, and no -p, -t, -a, -C or -G",
                                     "anyperf stat -- COMMAND, or anyperf stat -p PID"});
    if (options.per_thread && !tasks)
        return std::unexpected(bad_option("--per-thread", "the threads of a command can't be known before it runs",
                                          "use it with -p or -t"));
    if (tasks && wide)
        return std::unexpected(
            bad_option("combination of targets", "-p and -t name tasks, -a, -C and -G name CPUs", "give one kind"));
    if (options.who.wants_virtual() && !options.in_user_space && !options.of_command())
        return std::unexpected(
            bad_option("--virtual", "the virtual PMU sees only what it has started itself, not what runs already",
                       "anyperf stat --virtual -- COMMAND, or inside of anyperf run -- sh: anyperf stat -p PID"));
    if (options.repeat > 1 && (options.command.empty() || tasks))
        return std::unexpected(bad_option("-r", "there is no command to run again", "anyperf stat -r 5 -- COMMAND"));
    if (options.metric_only && (options.repeat > 1 || !options.baseline.empty()))
        return std::unexpected(bad_option("--metric-only", "it has no counts that -r or --baseline could compare",
                                          "leave it out, or the other"));
    if (!options.gates.empty() && options.baseline.empty())
        return std::unexpected(bad_option("--fail-above", "there is nothing to compare with", "add --baseline FILE"));
    if (!options.baseline.empty() && options.interval_ms > 0)
        return std::unexpected(bad_option("--baseline", "it compares whole runs, and -I prints intervals", "drop one"));
    if (options.all_user && options.all_kernel)
        return std::unexpected(bad_option("--all-user", "--all-kernel leaves that out", "give one of them"));
    if (options.append && options.output_file.empty())
        return std::unexpected(bad_option("--append", "there is no file to append to", "add -o FILE"));
    if (options.interval_count > 0 && options.interval_ms == 0)
        return std::unexpected(bad_option("--interval-count", "there are no intervals to count", "add -I MS"));
    if (options.json && (options.csv || !options.separator.empty()))
        return std::unexpected(bad_option("--json", "--csv and -x ask for another format", "give one of them"));
    return {};
}

}  // namespace

void declare_options(CLI::App& verb, Options& options) {
    const auto each = [](CLI::Option* option) { option->allow_extra_args(false)->type_name("")->take_all(); };
    verb.prefix_command();
    verb.footer(
        "anyperf stat [OPTIONS] [--] COMMAND...\nanyperf stat [OPTIONS] {-p PIDS | -t TIDS | -a | -C CPUS} [[--] "
        "COMMAND...]");
    each(verb.add_option("-e,--event", options.events,
                         "EVENTS: as perf's: cycles,{a,b},sched:*,mem:ADDR:w; repeatable"));
    each(verb.add_option("-p,--pid", options.pids, "PIDS: all threads of these processes"));
    each(verb.add_option("-t,--tid", options.tids, "TIDS: these threads"));
    verb.add_flag("-a,--all-cpus", options.system_wide, "everything on every CPU");
    verb.add_option("-C,--cpu", options.cpu_list, "CPUS: everything on these CPUs: 0-3,7")->type_name("");
    each(
        verb.add_option("-G,--cgroup", options.cgroups, "CGROUPS: tasks of a cgroup: one for all events, or one each"));
    verb.add_option("-I,--interval-print", options.interval_ms, "MS: print what was counted every MS milliseconds")
        ->type_name("")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400'000}));
    verb.add_option("--interval-count", options.interval_count, "N: end after N intervals")
        ->type_name("")
        ->check(CLI::Range(1, 1'000'000'000));
    verb.add_option("-r,--repeat", options.repeat, "N: run the command N times: mean, deviation, median")
        ->type_name("")
        ->check(CLI::Range(1, 1'000'000));
    verb.add_flag("--per-thread", options.per_thread, "a line for each thread (with -p, -t)");
    verb.add_flag("-A,--no-aggr,--per-cpu", options.per_cpu, "a line for each CPU");
    verb.add_flag("-d,--detailed", options.detail, "more events; -dd and -ddd yet more");
    verb.add_flag("--csv", options.csv, "fields separated by commas, in perf's order");
    verb.add_option("-x,--field-separator", options.separator, "SEP: the same, separated by SEP")->type_name("");
    verb.add_flag("-j,--json", options.json, "one JSON object");
    verb.add_flag("--metric-only", options.metric_only, "only the ratios that are read out of the counts, in a row");
    verb.add_option("-o,--output", options.output_file, "FILE: results go there, not to standard error")->type_name("");
    verb.add_flag("--append", options.append, "to the end of that file");
    verb.add_option("--baseline", options.baseline, "FILE: compare with what --json printed earlier")->type_name("");
    each(verb.add_option("--fail-above", options.fail_above,
                         "PCT[%] | EVENT=PCT: exit with 1 where an event grew by more; repeatable"));
    verb.add_option("--timeout", options.timeout_ms, "MS: end the command and the counting after MS milliseconds")
        ->type_name("")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400'000'000}));
    verb.add_option("-D,--delay", options.delay_ms, "MS: begin to count MS milliseconds after the start")
        ->type_name("")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{86'400'000}));
    verb.add_flag("-n,--null", options.no_events, "no events, time only");
    verb.add_flag("-B,--big-num,!--no-big-num", options.big_num, "thousands separators in the table (on)");
    verb.add_flag("-i,--no-inherit", options.no_inherit, "without the threads and processes created meanwhile");
    verb.add_flag("--all-user", options.all_user, "every event in user mode only");
    verb.add_flag("--all-kernel", options.all_kernel, "every event in kernel mode only");
    declare_who_counts(verb, options.who);
    verb.add_flag("-v,--verbose", options.verbose, "say what is opened, and of each refused event why");
}

Result<void> check(Options& options) {
    options.pid_numbers = TRY(ids(options.pids, "-p"));
    options.tid_numbers = TRY(ids(options.tids, "-t"));
    if (!options.cpu_list.empty()) options.cpus = TRY(host::parse_cpu_list(options.cpu_list));
    for (const auto& text : options.fail_above) options.gates.push_back(TRY(gate(text)));
    if (options.csv && options.separator.empty()) options.separator = ",";
    if (options.separator == "\\t") options.separator = "\t";
    options.format = options.json ? Format::json : options.separator.empty() ? Format::table : Format::csv;
    options.in_user_space = TRY(already_in_user_space(options.who));
    return check_combinations(options);
}

}  // namespace anyperf::cli::stat
