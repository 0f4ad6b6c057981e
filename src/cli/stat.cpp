// stat.cpp: `anyperf stat`: counts events of a command, of processes, or of the machine. docs/stat.md is its page.
#include "cli/stat.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/stat/baseline.h"
#include "cli/stat/options.h"
#include "cli/stat/plan.h"
#include "cli/stat/session.h"
#include "cli/stat/sink.h"
#include "cli/stat/writers.h"
#include "host/usability.h"

namespace anyperf::cli {

namespace {

using stat::Format;
using stat::Options;
using stat::Plan;
using stat::Report;
using stat::Run;
using stat::Sink;

std::string formatted(const Report& report, const Options& options) {
    switch (options.format) {
        case Format::csv:
            return options.metric_only ? stat::to_metrics(report, options, true) : stat::to_csv(report, options);
        case Format::json: return stat::to_json(report, options);
        case Format::table: break;
    }
    return stat::to_table(report, options);
}

/// The runs of -r as one report: means, with the single values beside them.
void add_run(Report& all, const Report& one) {
    for (std::size_t i = 0; i < one.lines.size() && i < all.lines.size(); ++i) {
        auto& line = all.lines[i];
        line.runs.push_back(one.lines[i].value());
        if (all.runs > 0) line.count = line.count + one.lines[i].count;
    }
    all.wall_runs.push_back(static_cast<double>(one.wall_ns));
    if (all.runs > 0) {
        all.wall_ns += one.wall_ns;
        all.user_ns += one.user_ns;
        all.system_ns += one.system_ns;
    }
    all.exit_status = one.exit_status;
    ++all.runs;
}

void divide(Report& all) {
    const auto runs = static_cast<std::uint64_t>(all.runs);
    for (auto& line : all.lines) {
        auto& count = line.count;
        count.raw /= runs;
        count.value = (count.value + runs / 2) / runs;
        count.enabled_ns /= runs;
        count.running_ns /= runs;
    }
    all.wall_ns /= runs;
    all.user_ns /= runs;
    all.system_ns /= runs;
}

/// Measures as often as -r asks. The command's first failure by a signal ends the series: what follows would be of
/// another program.
Result<Run> measure(const Plan& plan, const Options& options, SignalGate& gate, Sink& sink) {
    bool first = true;
    const stat::OnInterval on_interval = [&](const Report& report) {
        sink.write(stat::to_interval(report, options, std::exchange(first, false)));
    };
    std::optional<Run> all;
    for (int i = 0; i < options.repeat; ++i) {
        Run run = TRY(stat::run_once(plan, options, gate, on_interval));
        if (options.interval_ms > 0 && !run.all_printed) on_interval(run.report);
        if (!all) {
            all = run;
            all->report.runs = 0;
        }
        add_run(all->report, run.report);
        all->ending = run.ending;
        if (run.ending.signal != 0) break;
    }
    divide(all->report);
    return std::move(*all);
}

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

/// Writes the report, with what --baseline says about it. True where every limit is kept.
bool write_results(Run& run, const Options& options, const stat::Baseline& earlier, Sink& sink, Output& output) {
    if (options.verbose) sink.write(verbose_text(run.report));
    if (options.baseline.empty()) {
        if (options.interval_ms == 0) sink.write(formatted(run.report, options));
        return true;
    }
    const auto comparison = stat::compare(earlier.events, run.report, options.gates);
    const std::string table = "\n" + stat::to_table(comparison) + stat::warning(earlier, run.report);
    if (options.format == Format::json) {  // which stays one object
        run.report.differences = comparison.differences;
        run.report.baseline_mode = earlier.mode;
        sink.write(formatted(run.report, options));
        if (!options.output_file.empty()) output.note(table);
    } else {
        sink.write(formatted(run.report, options) + table);
    }
    return comparison.passed;
}

/// Whether there is room for a line that says who counts: fields and JSON have standard error for themselves.
bool may_announce(const Options& options) {
    return options.format == Format::table || !options.output_file.empty();
}

/// Whether the command is to be measured in user space, though we aren't there: the reason is empty where it was asked
/// for.
std::optional<std::string> why_in_user_space(const Options& options, const Plan& plan) {
    if (options.in_user_space || options.who.kernel || !plan.of_command) return std::nullopt;
    for (const auto& scope : plan.scopes)
        if (auto why = why_not_the_kernel(scope.groups)) return why;
    return std::nullopt;
}

/// Whether the events are such as the virtual PMU has and this machine, for want of a PMU, has not:
/// cpu/event=0xc0,umask=1/.
bool only_the_virtual_machine_knows(const Options& options) {
    if (options.in_user_space || options.who.kernel || !options.of_command()) return false;
    return only_a_run_has_it(
        [&](const events::Machine& machine) { return stat::make_plan(options, machine).has_value(); });
}

/// What is counted, and for whom: with the run that this process hosts where the kernel does not count.
struct Arranged {
    std::unique_ptr<UserSpace> hosted;
    Plan plan;
};

Result<Arranged> arrange_in_user_space(Options& options, const std::string& why, Output& output) {
    auto hosted = TRY(UserSpace::begin(options.who));
    options.in_user_space = true;
    options.hosted = hosted.get();
    options.virtual_because = why;
    auto plan = stat::make_plan(options, hosted->machine(false));
    if (!plan) plan = stat::make_plan(options, hosted->machine(true));
    if (!plan) return std::unexpected(std::move(plan).error());
    if (may_announce(options))
        output.note(fmt::format("anyperf: {}{}{}\n", why, why.empty() ? "" : ": ", kCountsInUserSpace));
    return Arranged{std::move(hosted), std::move(*plan)};
}

Result<Arranged> arrange(Options& options, Output& output) {
    if (options.who.wants_virtual() && !options.in_user_space) return arrange_in_user_space(options, "", output);
    auto plan = stat::make_plan(options, events::Machine::read());
    if (!plan && only_the_virtual_machine_knows(options)) return arrange_in_user_space(options, kNoPmu, output);
    if (!plan) return std::unexpected(std::move(plan).error());
    if (const auto why = why_in_user_space(options, *plan)) return arrange_in_user_space(options, *why, output);
    if (const auto deadly = host::why_opening_kills("events")) return std::unexpected(*deadly);
    return Arranged{nullptr, std::move(*plan)};
}

Result<int> run_stat(Options& options, Output& output) {
    TRY(stat::check(options));
    auto arranged = TRY(arrange(options, output));
    stat::Baseline earlier;
    if (!options.baseline.empty()) earlier = TRY(stat::read_baseline(options.baseline));
    auto sink = TRY(Sink::open(options, output));
    std::optional<Result<Run>> measured;
    {
        auto gate = TRY(SignalGate::close_gate());
        measured = measure(arranged.plan, options, gate, sink);
    }
    arranged.hosted.reset();
    if (!*measured) return std::unexpected(std::move(*measured).error());
    Run& run = **measured;
    const bool passed = write_results(run, options, earlier, sink, output);
    if (options.format == Format::csv && !may_announce(options) && !run.report.mode_reason.empty())
        sink.write(fmt::format("# anyperf: {}: {}\n", run.report.mode_reason, kCountsInUserSpace));
    TRY(sink.close());
    std::fflush(nullptr);
    die_as(run.ending);
    if (run.interrupted_by != 0)
        die_as({.exit_status = 128 + run.interrupted_by, .signal = run.interrupted_by, .usage = {}});
    return run.ending.exit_status == 0 && !passed ? 1 : run.ending.exit_status;
}

cli::Run declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    stat::declare_options(verb, *options);
    return [options, &verb](Output& output) -> Result<int> {
        options->command = TRY(command_words(verb));
        return run_stat(*options, output);
    };
}

}  // namespace

constinit const Verb kStat{"stat", "count events of a command, of processes, or of the machine", declare};

}  // namespace anyperf::cli
