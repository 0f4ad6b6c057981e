// run.cpp: `anyperf run -- COMMAND`. The broker does the work (broker/launch/run.h); this file translates options,
// writes the counts, and passes on the command's exit status.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <system_error>

#include "broker/launch/command_file.h"
#include "broker/launch/counts.h"
#include "broker/launch/inside_run.h"
#include "broker/launch/run.h"
#include "cli/command/command.h"
#include "cli/command/command_words.h"
#include "cli/machine_options.h"
#include "cli/option_checks.h"
#include "cli/run.h"
#include "cli/schedules/difference.h"
#include "cli/schedules/schedules.h"
#include "pmu/cpu/cpu_models.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::vector<std::string> command;
    CLI::Option* count = nullptr;  ///< --count, whose value is optional
    std::string classes;           ///< its value: "all", or classes separated by commas
    std::string count_to;          ///< a file; empty: standard error
    std::string call_graph;        ///< what call chains of samples are: "fp" or "exact"
    MachineArguments machine;
    std::string log_schedule;       ///< a file; empty: none
    std::vector<std::string> logs;  ///< --explain-difference: two files
    std::uint64_t schedules = 0;    ///< --schedules; 0: one run
};

/// --explain-difference.
Result<int> explain_difference(const Options& options, Output& out) {
    std::ifstream first{options.logs[0]};
    std::ifstream second{options.logs[1]};
    for (std::size_t i = 0; i < 2; ++i)
        if (!(i == 0 ? first : second))
            return std::unexpected(Error{"cannot read " + options.logs[i], std::generic_category().message(errno),
                                         "make it with anyperf run --deterministic --log-schedule FILE"});
    const auto difference = TRY(schedules::find_difference({first, options.logs[0]}, {second, options.logs[1]}));
    out.print(difference ? schedules::describe(*difference, options.logs[0], options.logs[1])
                         : "The schedules are equal.\n");
    return difference ? 1 : 0;
}

/// --schedules.
Result<int> try_schedules(const Options& options, Output& out) {
    if (options.machine.order || !options.log_schedule.empty() || options.count->count() > 0 ||
        !options.count_to.empty())
        return std::unexpected(Error{"--schedules cannot be combined with --order, --log-schedule and --count",
                                     "they are about one run", "leave them out, then repeat a run with --order"});
    return schedules::run_schedules({options.command, options.machine.words(), options.schedules, 0}, out);
}

Error cannot_write_counts(const std::string& file, int errno_value) {
    return {"cannot write the counts to " + file, std::generic_category().message(errno_value),
            errno_value == ENOSPC ? "free disk space, or give --count-to a file elsewhere"
                                  : "give --count-to a file that this user may write, in a directory that exists"};
}

/// Writes the counts as one JSON object.
Result<void> write_counts(const Options& options, const broker::RunResult& result, Output& out) {
    // Names of programs and threads need not be UTF-8; invalid bytes become U+FFFD.
    const std::string text =
        broker::counts_of(result).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (options.count_to.empty()) {
        out.note(text);  // standard output is the command's
        if (!out.notes_failed()) return {};
        return std::unexpected(Error{"cannot write the counts to standard error",
                                     std::generic_category().message(ENOSPC), "give --count-to a file elsewhere"});
    }
    std::ofstream file{options.count_to};
    if (file << text << std::flush) return {};
    return std::unexpected(cannot_write_counts(options.count_to, errno));
}

/// `anyperf run` as a program of a run. The outer engine runs whatever this process executes, and its virtual PMU is
/// there already, so the command simply replaces this process. Options that only a run of its own could serve are
/// refused. Returns only on failure.
Result<int> run_inside(const Options& options) {
    if (options.count->count() > 0 || !options.count_to.empty() || !options.call_graph.empty() ||
        options.machine.any_given() || options.schedules != 0)
        return std::unexpected(Error{"cannot start a run inside a run",
                                     "this process runs under anyperf run: the command can be started, but not counted "
                                     "separately or given another machine",
                                     "give the options to the outer anyperf run, or count with its virtual PMU: "
                                     "anyperf stat -e instructions:u -- COMMAND"});
    std::vector<std::string> words = options.command;
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(pointers.front(), pointers.data());
    return std::unexpected(broker::exec_failure(words.front(), errno));
}

/// Makes perf name the events of the virtual PMU. perf chooses the names by CPUID, and with the host's CPUID it would
/// take the names of the host's events for codes of the Skylake that the PMU is. PERF_CPUID, which perf reads first, is
/// the identity in perf's form: vendor, family, model and stepping.
void name_events_of(pmu::CpuModel presented) {
    if (presented != pmu::CpuModel::host) return;
    const pmu::CpuIdentity& cpu = *pmu::identity_of(pmu::skylake_model_of_host());
    const std::string name = fmt::format("{}-{}-{:X}-{:X}", pmu::kVendor, pmu::kFamily, cpu.model, cpu.stepping);
    ::setenv("PERF_CPUID", name.c_str(), 0);
}

/// Files and classes are checked before the command starts. Counts are written before this process dies by the
/// command's signal.
Result<int> run(const Options& options, Output& out) {
    if (!options.logs.empty()) return explain_difference(options, out);
    if (options.command.empty())
        return std::unexpected(Error{"nothing to run", "the command line has no command", "anyperf run -- COMMAND"});
    if (broker::inside_run()) return run_inside(options);
    if (options.schedules != 0) return try_schedules(options, out);
    const bool counts = options.count->count() > 0 || !options.count_to.empty();
    // A program may choose its code by the CPU model. Counts should be those of the code that runs on this CPU.
    const pmu::CpuModel model = counts ? pmu::CpuModel::host : pmu::skylake_model_of_host();
    broker::RunOptions run_options;
    run_options.command = options.command;
    options.machine.apply_to(run_options);
    run_options.log_schedule = options.log_schedule;
    run_options.stores = !options.machine.no_cache;
    run_options.exact_callers = options.call_graph == "exact";
    run_options.machine = TRY(machine_options(options.machine, model));
    if (!counts) name_events_of(run_options.machine.cpu_model);
    if (counts) run_options.counting = TRY(broker::parse_classes(options.classes));
    // Try the file before the command runs, so that a long run is not lost to a typing error.
    if (!options.count_to.empty() && !std::ofstream{options.count_to})
        return std::unexpected(cannot_write_counts(options.count_to, errno));
    const broker::RunResult result = TRY(broker::run(run_options));
    if (counts) TRY(write_counts(options, result, out));
    std::fflush(nullptr);  // die_by_signal_of() may not return
    const ExitInfo exit_info = exit_info_of(result.status);
    die_by_signal_of(exit_info);
    return exit_info.exit_status;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    options->count = verb.add_flag("--count{all}", options->classes,
                                   "count retired instructions by class; =CLASSES: only these, separated by commas")
                         ->option_text("[=CLASSES]");
    verb.add_option("--count-to", options->count_to, "write the counts to FILE instead of standard error")
        ->option_text("FILE");
    verb.add_option(
            "--call-graph", options->call_graph,
            "fp | exact: what the call chains of samples in the run are: frame pointers, as the kernel's, or the "
            "calls that have not returned")
        ->type_name("")
        ->check(CLI::IsMember({"fp", "exact"}));
    declare_machine_options(verb, options->machine);
    CLI::Option* const deterministic = verb.get_option("--deterministic");
    CLI::Option* const no_turns = verb.get_option("--no-turns");
    verb.add_option("--log-schedule", options->log_schedule,
                    "FILE: with --deterministic, log each turn, call and signal, the same in every run that repeats")
        ->type_name("")
        ->needs(deterministic)
        ->excludes(no_turns);
    verb.add_option("--schedules", options->schedules,
                    "N: with --deterministic, run N times in N orders, and report what differs")
        ->type_name("")
        ->transform(whole_number_from(2u, 1'000'000u))
        ->needs(deterministic)
        ->excludes(no_turns);
    verb.add_option("--explain-difference", options->logs, "A B: say where two logs of --log-schedule part")
        ->expected(2)
        ->type_name("");
    verb.add_option("command", options->command, "the command and its arguments")->option_text("[--] COMMAND");
    verb.positionals_at_end();  // all words after the command's name are the command's, even options and `--`
    return [options](Output& out) { return run(*options, out); };
}

}  // namespace

constinit const Verb kRun{"run", "run a command in the engine and count it exactly", declare};

}  // namespace anyperf::cli
