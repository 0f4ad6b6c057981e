// stat.cpp: `anyperf stat`: counts events of a command, of processes, or of the machine. docs/stat.md is its page.
//
// The parts, in the order in which they work: options.h (what is asked for), plan.h (events and targets), backend.h
// (kernel or virtual PMU), session.h (one measurement), series.h (-r), writers.h (text), sink.h (where it goes),
// gate/gate.h (--baseline). This file connects them.
#include "cli/stat.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <ranges>

#include "broker/launch/run_options.h"
#include "cli/command/command_words.h"
#include "cli/command/control_channel.h"
#include "cli/stat/events/default_events.h"
#include "cli/stat/events/virtual_events.h"
#include "cli/stat/gate/gate.h"
#include "cli/stat/gate/gate_report.h"
#include "cli/stat/option_rules.h"
#include "cli/stat/options.h"
#include "cli/stat/output/machine_table.h"
#include "cli/stat/output/sink.h"
#include "cli/stat/output/writers.h"
#include "cli/stat/plan.h"
#include "cli/stat/series/series.h"
#include "host/usability.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using stat::Format;
using stat::Measurement;
using stat::Options;
using stat::Plan;
using stat::Report;
using stat::Sink;

/// The lines of a text as comments, which readers of CSV skip.
std::string as_comments(const std::string& text) {
    std::string comments;
    for (const auto line : std::views::split(text, '\n'))
        if (!line.empty()) comments += "#" + std::string{line.begin(), line.end()} + "\n";
    return comments;
}

/// The report as CSV. Notes follow the fields as comments.
std::string as_csv(const Report& report, const Options& options) {
    std::string text = options.metric_only ? stat::to_metrics(report, options, true) : stat::to_csv(report, options);
    for (const auto& note : report.notes) text += as_comments(" " + note);
    return text;
}

/// The report in the format of the options.
std::string formatted(const Report& report, const Options& options) {
    switch (options.format) {
        case Format::csv: return as_csv(report, options);
        case Format::json: return stat::to_json(report, options);
        case Format::table: break;
    }
    return stat::to_table(report, options);
}

/// -v: what was opened for each event, and the full text of each refusal.
std::string verbose_text(const Report& report) {
    std::string text;
    for (const auto& line : report.lines) {
        const auto& attr = line.event.attr;
        text +=
            fmt::format("# {}: type {}, config {:#x}, flags {:#x}\n", line.name, attr.type, attr.config, attr.flags);
        if (line.refusal)
            text += fmt::format("#   {}\n#   cause: {}\n#   fix:   {}\n", line.refusal->what, line.refusal->cause,
                                line.refusal->fix);
    }
    return text;
}

/// Writes the report, and the comparison with --baseline. A table is followed by the comparison, and a JSON object
/// contains it. If CSV or JSON does not go to standard error, the comparison is printed there for people. CSV on
/// standard error is followed by it as comments.
void write_comparison(Report& report, const stat::GateResult& gate, const Options& options,
                      const stat::Baseline& earlier, Sink& sink, Output& output) {
    std::string table = stat::to_table(gate.comparison);
    for (const auto& obstacle : gate.obstacles) table += " not comparable: " + obstacle + "\n";
    if (options.format == Format::json) {
        report.differences = gate.comparison.differences;
        report.baseline_mode = earlier.identity.mode;
        report.verdict = stat::verdict_line(gate);
        report.obstacles = gate.obstacles;
    }
    sink.write(formatted(report, options));
    if (options.format == Format::table)
        sink.write("\n" + table);
    else if (!options.writes_to_standard_error() && !options.quiet)
        output.note("\n" + table);
    else if (options.format == Format::csv)
        sink.write(as_comments(table));
}

/// Whether a report of a whole run is printed, besides those of intervals.
bool prints_whole_runs(const Options& options) {
    return options.interval_ms == 0 || options.summary;
}

/// Cursor to the upper left corner, and erase all (ECMA-48: CUP, ED).
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

/// The listener that prints intervals and the runs of -r 0, and answers commands of --control.
stat::Listener listener_for(const Options& options, Sink& sink, Output& output, ControlChannel* control) {
    stat::Listener listener;
    listener.control = control;
    listener.events_listed = [&output](const std::string& text) {
        output.print(text);
        std::fflush(nullptr);  // before the acknowledgement, after which the other program may read it
    };
    listener.unknown_event = [&options, &output](const std::string& name) {
        if (!options.quiet) output.note(fmt::format("anyperf: --control: there is no event {}\n", name));
    };
    listener.interval = [&options, &sink, first = true](const Report& report) mutable {
        if (options.interval_clear) sink.write(kClearScreen);
        sink.write(stat::to_interval(report, options, std::exchange(first, options.interval_clear)));
    };
    listener.run = [&options, &sink](const Report& report) {
        if (prints_whole_runs(options)) sink.write(formatted(report, options));
    };
    return listener;
}

/// Whether a line on standard error may say that the virtual PMU counts, or how a gate ended. CSV and JSON on standard
/// error are for programs, which would not expect such a line.
bool may_announce(const Options& options) {
    return !options.quiet && (options.format == Format::table || !options.writes_to_standard_error());
}

/// Writes the text of -v. It precedes a table or CSV as comments. JSON is one object, so the text is on standard error
/// if the object is not there, else in its notes.
void write_verbose(Report& report, const Options& options, Sink& sink, Output& output) {
    const std::string text = verbose_text(report);
    if (options.format != Format::json) return sink.write(text);
    if (options.quiet) return;
    if (!options.writes_to_standard_error()) return output.note(text);
    for (const auto line : std::views::split(text, '\n'))
        if (!line.empty()) report.notes.emplace_back(std::string_view{line.begin(), line.end()}.substr(1));
}

/// Writes the report, and with --baseline the comparison. Interval reports are already written. With --update-baseline
/// a run whose command succeeded becomes the baseline, and no verdict is printed. Returns the exit status of the gate;
/// 0 if there is none or the baseline was updated.
Result<int> write_results(Measurement& run, const Options& options, const std::optional<stat::Baseline>& earlier,
                          Sink& sink, Output& output) {
    if (options.verbose) write_verbose(run.report, options, sink, output);
    if (options.format == Format::json || !options.baseline.empty())
        run.report.identity = stat::identity_of_run(options, run.report.mode);
    const std::string report = options.update_baseline ? stat::to_json(run.report, options) : "";
    stat::GateResult gate;
    if (!earlier) {
        if (prints_whole_runs(options) && !options.repeats_forever()) sink.write(formatted(run.report, options));
    } else {
        gate = stat::check_gate(*earlier, run.report, options);
        write_comparison(run.report, gate, options, *earlier, sink, output);
        for (const auto& wanted : options.parsed_gate_reports) TRY(stat::write_gate_report(wanted, gate, run.report));
    }
    const bool announces = may_announce(options);
    if (options.update_baseline && run.exit_info.exit_status == 0) {
        TRY(stat::write_baseline(options.baseline, report));
        if (announces) output.note(fmt::format("anyperf: {} is this run now\n", options.baseline));
        return 0;
    }
    if (const std::string line = stat::verdict_line(gate); announces && !line.empty())
        output.note(fmt::format("anyperf: {}\n", line));
    return stat::exit_status_of(gate.verdict);
}

/// Why the command should be measured in user space although the user has not asked for it; nothing if the kernel
/// should count. The virtual PMU can only replace the kernel for a command that anyperf starts itself: tasks that run
/// already cannot be brought under the engine.
std::optional<std::string> why_in_user_space(const Options& options, const Plan& plan) {
    if (options.in_user_space || options.backend.kernel || !plan.targets_command) return std::nullopt;
    for (const auto& scope : plan.scopes)
        if (auto why = why_kernel_cannot_count(scope.groups)) return why;
    return std::nullopt;
}

/// Why metrics are computed in user space although nobody asked for it; nothing if the kernel should count. Their
/// formulas depend on what counts, so the plan needs the answer.
std::optional<std::string> why_metrics_in_user_space(const Options& options) {
    if (options.metrics.empty() || options.in_user_space || options.backend.kernel || !options.targets_command())
        return std::nullopt;
    const auto cycles = events::parse(events::Machine::read(), "cycles");
    return cycles ? why_kernel_cannot_count(*cycles) : std::nullopt;
}

/// Whether this machine has no PMU, but the event strings are valid on the presented machine of a run, as
/// cpu/event=0xc0,umask=1/ is.
bool only_presented_machine_knows(const Options& options) {
    if (options.in_user_space || options.backend.kernel || !options.targets_command()) return false;
    return only_presented_machine_accepts(
        [&](const events::Machine& machine) { return stat::make_plan(options, machine).has_value(); });
}

/// The plan, and the hosted run that it is for. Without one (null), the kernel counts, or the run around this process.
struct Prepared {
    std::unique_ptr<HostedRun> hosted;
    Plan plan;
};

/// Starts to host a run, and plans on its presented machine. `why` is printed; empty: the user asked for the virtual
/// PMU.
Result<Prepared> prepare_in_user_space(Options& options, const std::string& why, Output& output) {
    auto hosted = TRY(HostedRun::begin(options.backend, {.programs_switch = options.delay_ms == kDelayForever}));
    options.in_user_space = true;
    options.hosted = hosted.get();
    options.virtual_reason = why;
    options.modelled_machine = modelled_machine_name(options.backend.machine, pmu::CpuModel::host);
    auto plan =
        TRY(hosted->read_events([&](const events::Machine& machine) { return stat::make_plan(options, machine); }));
    if (may_announce(options))
        output.note(fmt::format("anyperf: {}{}{}\n", why, why.empty() ? "" : ": ", kCountsInUserSpace));
    return Prepared{std::move(hosted), std::move(plan)};
}

/// Chooses between kernel and virtual PMU, and plans. The virtual PMU is chosen for one of these reasons, which are
/// checked in this order: the user asks for it; there are metrics, and the kernel cannot count cycles; only the
/// presented machine knows the event strings; the kernel cannot count the events. Error: an event string is wrong, or
/// opening an event would kill this process.
Result<Prepared> prepare(Options& options, Output& output) {
    if (options.backend.wants_virtual() && !options.in_user_space) return prepare_in_user_space(options, "", output);
    if (const auto why = why_metrics_in_user_space(options)) return prepare_in_user_space(options, *why, output);
    auto plan = stat::make_plan(options, events::Machine::read());
    if (!plan && only_presented_machine_knows(options)) return prepare_in_user_space(options, kNoPmu, output);
    if (!plan) return std::unexpected(std::move(plan).error());
    if (const auto why = why_in_user_space(options, *plan)) return prepare_in_user_space(options, *why, output);
    if (const auto killer = host::why_opening_kills("events")) return std::unexpected(*killer);
    return Prepared{nullptr, std::move(*plan)};
}

/// The names of the events that will be counted.
std::vector<std::string> names_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& scope : plan.scopes)
        for (const auto& group : scope.groups)
            for (const auto& event : group.events) names.push_back(event.name);
    return names;
}

/// Measures the plan. The signals are blocked meanwhile only: afterwards Ctrl-C must end anyperf as it ends any
/// program. The run ends before results are printed.
Result<Measurement> measure(Prepared& prepared, const Options& options, const stat::Listener& listener) {
    auto signals = TRY(BlockedSignals::block());
    auto measured = stat::measure_series(prepared.plan, options, signals, listener);
    prepared.hosted.reset();
    return measured;
}

/// Measures the command once for each of these machines, and prints their counts side by side. The command's first
/// failure ends it.
Result<int> compare_machines(const Options& given, const std::vector<std::string>& machines, Output& output) {
    auto machine = given.backend.machine;
    for (const std::string& name : machines) {
        machine.machine = name;
        TRY(machine_options(machine, pmu::CpuModel::host));
    }
    auto sink = TRY(Sink::open(given, output));
    std::vector<stat::MachineReport> reports;
    ExitInfo exit_info;
    for (const std::string& name : machines) {
        Options options = given;
        options.backend.machine.machine = name;
        options.quiet = given.quiet || !reports.empty();  // it says once that the virtual PMU counts
        auto prepared = TRY(prepare_in_user_space(options, "", output));
        Measurement run = TRY(measure(prepared, options, {}));
        exit_info = run.exit_info;
        reports.push_back({options.modelled_machine, std::move(run.report)});
        if (exit_info.exit_status != 0) break;
    }
    sink.write(stat::to_machine_table(reports, given));
    TRY(sink.close());
    std::fflush(nullptr);
    die_by_signal_of(exit_info);
    return exit_info.exit_status;
}

Result<int> run_stat(Options& options, Output& output) {
    TRY(stat::check(options));
    for (const auto& text : options.gate_reports)
        options.parsed_gate_reports.push_back(TRY(stat::parse_gate_report(text)));
    options.cpu_level = stat::cpu_level_of(options);
    if (options.in_user_space) options.modelled_machine = stat::modelled_machine_of_run(host::Root{});
    TRY(stat::check_rules(options));
    const auto machines = stat::machines_of(options.backend.machine.machine);
    if (machines.size() > 1) return compare_machines(options, machines, output);
    if (options.topdown) {
        options.events.push_back(TRY(stat::topdown_events(host::Root{})));
        options.metric_only = true;
        options.backend.kernel = true;  // the virtual PMU has no such events
    }
    auto prepared = TRY(prepare(options, output));
    TRY(stat::check_files_of_gate(options));
    TRY(stat::check_names_of_gates(options.gates, names_of(prepared.plan)));
    std::optional<stat::Baseline> earlier;
    const bool begins = options.update_baseline && !std::filesystem::exists(options.baseline);
    if (!options.baseline.empty() && !begins) earlier = TRY(stat::read_baseline(options.baseline));
    std::optional<ControlChannel> control;
    if (!options.control.empty()) control.emplace(TRY(ControlChannel::open(options.control)));
    auto sink = TRY(Sink::open(options, output));
    const auto listener = listener_for(options, sink, output, control ? &*control : nullptr);
    Measurement run = TRY(measure(prepared, options, listener));
    const int gate_status = TRY(write_results(run, options, earlier, sink, output));
    if (options.format == Format::csv && !may_announce(options) && !run.report.mode_reason.empty())
        sink.write(fmt::format("# anyperf: {}: {}\n", run.report.mode_reason, kCountsInUserSpace));
    TRY(sink.close());
    std::fflush(nullptr);
    die_by_signal_of(run.exit_info);
    if (run.interrupted_by != 0)
        die_by_signal_of({.exit_status = 128 + run.interrupted_by, .signal = run.interrupted_by, .usage = {}});
    // The command's failure is more important than an exceeded limit.
    return run.exit_info.exit_status == 0 ? gate_status : run.exit_info.exit_status;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    stat::declare_options(verb, *options);
    stat::declare_event_options(verb, *options);
    stat::declare_control_options(verb, *options);
    stat::declare_place_options(verb, *options);
    stat::declare_series_options(verb, *options);
    stat::declare_output_options(verb, *options);
    return [options, &verb](Output& output) -> Result<int> {
        options->command = TRY(command_words(verb));
        options->event_filters = TRY(assign_filters(verb, options->filters));
        return run_stat(*options, output);
    };
}

}  // namespace

constinit const Verb kStat{"stat", "count events of a command, of processes, or of the machine", declare};

}  // namespace anyperf::cli
