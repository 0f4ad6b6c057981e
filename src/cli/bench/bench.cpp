// bench.cpp: `anyperf bench`: counts a list of commands, each in several runs, and compares them with a baseline.
//
// The parts, in the order in which they work: bench_file.h (what to measure), measure.h (one bench, by `anyperf stat`
// in a process of its own), outcome.h (what the counts mean), reports.h. This file connects them.
#include "cli/bench/bench.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "broker/launch/run_options.h"
#include "cli/bench/bench_file.h"
#include "cli/bench/outcome.h"
#include "cli/bench/reports.h"
#include "cli/machine_options.h"
#include "events/suggest/near_names.h"
#include "pmu/cpu/cpu_models.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using bench::Bench;
using bench::EarlierBench;
using bench::Outcome;
using stat::GateReport;

struct Options {
    std::string file = "anyperf.toml";
    std::vector<std::string> filters;
    std::vector<std::string> reports;
    std::string baseline;
    bool update_baseline = false;
    bool json = false;
    bool list = false;
};

/// The benches whose names match one of the filters; all of them without a filter. A filter is a shell pattern for the
/// whole name. Error: a filter matches no bench.
Result<std::vector<Bench>> chosen(std::vector<Bench> benches, const std::vector<std::string>& filters) {
    std::vector<std::string> names;
    names.reserve(benches.size());
    for (const Bench& bench : benches) names.push_back(bench.name);
    const auto matches = [](const std::string& filter, const std::string& name) {
        return ::fnmatch(filter.c_str(), name.c_str(), 0) == 0;
    };
    for (const std::string& filter : filters)
        if (std::ranges::none_of(names, [&](const std::string& name) { return matches(filter, name); }))
            return std::unexpected(Error{"no bench is called " + filter, "the file does not have it",
                                         events::did_you_mean(filter, names).empty()
                                             ? "anyperf bench --list prints the names"
                                             : events::did_you_mean(filter, names)});
    if (!filters.empty())
        std::erase_if(benches, [&](const Bench& bench) {
            return std::ranges::none_of(filters,
                                        [&](const std::string& filter) { return matches(filter, bench.name); });
        });
    return benches;
}

/// Parses each --report and checks that its file can be written. This happens before the first command runs, so that a
/// wrong name does not cost its results.
Result<std::vector<GateReport>> wanted_reports(const Options& options, const std::string& baseline) {
    std::vector<GateReport> wanted;
    std::vector<std::string> files;
    for (const std::string& text : options.reports) {
        wanted.push_back(TRY(bench::parse_report(text)));
        files.push_back(wanted.back().file);
    }
    if (options.update_baseline) files.push_back(baseline);
    TRY(stat::check_writable(files));
    return wanted;
}

/// The status of the worst end: first what could not be measured, then what failed, then what cannot be judged, then
/// what grew.
int exit_status_of(std::span<const Outcome> outcomes) {
    constexpr std::array kWorstFirst{125, 1, 4, 3};
    for (const int status : kWorstFirst)
        if (std::ranges::any_of(outcomes, [&](const Outcome& each) { return exit_status_of(each.end) == status; }))
            return status;
    return 0;
}

const EarlierBench* find(const std::vector<EarlierBench>& earlier, const std::string& name) {
    const auto found = std::ranges::find(earlier, name, &EarlierBench::name);
    return found == earlier.end() ? nullptr : &*found;
}

int print_names(const std::vector<Bench>& benches, Output& output) {
    for (const Bench& bench : benches) output.print(bench.name + "\n");
    return 0;
}

/// The outcome of each bench, and why the first one of those that could not be measured was not.
struct Measurements {
    std::vector<Outcome> outcomes;
    std::optional<Error> first_error;
};

Measurements measure_all(const std::vector<Bench>& benches, const std::vector<EarlierBench>& earlier,
                         bool has_baseline) {
    Measurements all;
    for (const Bench& each : benches) {
        auto measured = bench::measure(each);
        if (measured) {
            all.outcomes.push_back(judge(each, *std::move(measured), find(earlier, each.name), has_baseline));
            continue;
        }
        all.outcomes.push_back(not_measured(each, measured.error()));
        if (!all.first_error) all.first_error = measured.error();
    }
    return all;
}

/// Checks before the first command runs that the machine of each bench can be read.
Result<void> check_machines(const std::vector<Bench>& benches) {
    for (const Bench& each : benches) {
        MachineArguments arguments;
        arguments.cpu_model = each.cpu_model;
        arguments.machine = each.machine;
        TRY(machine_options(arguments, pmu::CpuModel::host));
    }
    return {};
}

Result<int> run_bench(const Options& options, Output& output) {
    const bench::BenchFile file = TRY(bench::read_bench_file(options.file));
    const std::vector<Bench> benches = TRY(chosen(file.benches, options.filters));
    if (options.list) return print_names(benches, output);
    const std::string path = options.baseline.empty() ? file.baseline : options.baseline;
    if (options.update_baseline && path.empty())
        return std::unexpected(Error{"cannot update the baseline", "neither --baseline nor the file names one",
                                     "anyperf bench --update-baseline --baseline FILE"});
    TRY(check_machines(benches));
    const std::vector<GateReport> wanted = TRY(wanted_reports(options, path));
    std::vector<EarlierBench> earlier;
    const bool has_baseline = !path.empty() && (!options.update_baseline || std::filesystem::exists(path));
    if (has_baseline)
        earlier = TRY(bench::read_results(
            path, fmt::format("anyperf bench --update-baseline{}{} writes it",
                              options.baseline.empty() ? "" : " --baseline " + options.baseline, " " + options.file)));
    const Measurements measured = measure_all(benches, earlier, has_baseline);
    const std::vector<Outcome>& outcomes = measured.outcomes;
    output.print(options.json ? bench::to_json(outcomes) : bench::to_text(outcomes));
    for (const GateReport& report : wanted) TRY(bench::write_report(report, outcomes));
    if (!options.json) output.note(fmt::format("anyperf: {}\n", bench::summary(outcomes)));
    if (measured.first_error) return std::unexpected(*measured.first_error);
    const int status = exit_status_of(outcomes);
    if (!options.update_baseline || status == exit_status_of(bench::End::failed)) return status;
    TRY(stat::write_baseline(path, bench::results_text(outcomes, earlier)));
    output.note(fmt::format("anyperf: {} has these counts now\n", path));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("FILE", options->file, "the commands to measure, as TOML (default: anyperf.toml)");
    verb.add_option("--filter", options->filters, "measure only benches with such a name (a shell's pattern)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("PATTERN,…");
    verb.add_option("--baseline", options->baseline, "compare with the counts in FILE (default: that of the TOML file)")
        ->type_name("FILE");
    verb.add_flag("--update-baseline", options->update_baseline, "write the counts to the baseline");
    verb.add_option("--report", options->reports,
                    "also write a report: json, markdown, github, junit or benchmark, to FILE (-: standard output)")
        ->allow_extra_args(false)
        ->type_name("FORMAT=FILE");
    verb.add_flag("--json", options->json, "print one JSON object");
    verb.add_flag("--list", options->list, "print the names of the benches, and run nothing");
    return [options](Output& output) { return run_bench(*options, output); };
}

}  // namespace

constinit const Verb kBench{"bench", "count a list of commands and compare them with a baseline", declare};

}  // namespace anyperf::cli
