// run.cpp: `anyperf run -- COMMAND`.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <system_error>

#include "broker/counts.h"
#include "broker/inside.h"
#include "broker/run.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/machine_options.h"
#include "cli/run.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::vector<std::string> command;
    CLI::Option* count = nullptr;
    std::string classes;
    std::string count_to;
    MachineWish machine;
};

Result<void> write_counts(const Options& options, const broker::RunResult& result, Output& out) {
    const std::string text = broker::counts_of(result).dump(2) + "\n";
    if (options.count_to.empty()) {
        out.note(text);  // standard output is the command's
        return {};
    }
    std::ofstream file{options.count_to};
    if (file << text << std::flush) return {};
    return std::unexpected(
        Error{"cannot write the counts to " + options.count_to, std::generic_category().message(errno), ""});
}

/// In a run already. Its engine runs what we start, too, and its virtual PMU is there: the command simply takes our
/// place. What only another run could give is refused.
Result<int> run_inside(const Options& options) {
    if (options.count->count() > 0 || !options.count_to.empty() || options.machine.given())
        return std::unexpected(Error{"cannot start a run in a run",
                                     "this process is a program of anyperf run; its command can be run, but not "
                                     "counted or given another machine",
                                     "give the options to the first anyperf run, or count by its virtual PMU: "
                                     "anyperf stat -e instructions:u -- COMMAND"});
    std::vector<std::string> words = options.command;
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(pointers.front(), pointers.data());
    const int error = errno;
    return std::unexpected(Error{"cannot run " + words.front(), std::generic_category().message(error), "",
                                 error == ENOENT || error == ENOTDIR ? 127 : 126});
}

Result<int> run(const Options& options, Output& out) {
    if (options.command.empty())
        return std::unexpected(
            Error{"there is nothing to run", "the command line ends before a command", "anyperf run -- COMMAND"});
    if (broker::inside_run()) return run_inside(options);
    const bool counts = options.count->count() > 0 || !options.count_to.empty();
    // A program that asks for its CPU may take another path on another one: what is counted is the one of this CPU.
    const pmu::CpuModel model = counts ? pmu::CpuModel::host : pmu::model_of_features();
    broker::RunOptions wish {
        options.command, 0, options.machine.deterministic, TRY(machine_of(options.machine, model))
    };
    if (counts) wish.counting = TRY(broker::parse_classes(options.classes));
    if (!options.count_to.empty() && !std::ofstream{options.count_to})
        return std::unexpected(
            Error{"cannot write the counts to " + options.count_to, std::generic_category().message(errno), ""});
    const broker::RunResult result = TRY(broker::run(wish));
    if (counts) TRY(write_counts(options, result, out));
    std::fflush(nullptr);
    const Ending ending = ending_of(result.status);
    die_as(ending);
    return ending.exit_status;
}

Run declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    options->count =
        verb.add_flag("--count{all}", options->classes, "count what retires; =CLASSES: only these, a comma list")
            ->option_text("[=CLASSES]");
    verb.add_option("--count-to", options->count_to, "write the counts to FILE instead of standard error")
        ->option_text("FILE");
    declare_machine_options(verb, options->machine);
    verb.add_option("command", options->command, "the command and its arguments")->option_text("[--] COMMAND");
    verb.positionals_at_end();  // what follows the command's name is the command's, options and `--` too
    return [options](Output& out) { return run(*options, out); };
}

}  // namespace

constinit const Verb kRun{"run", "run a command in the engine, and count it exactly", declare};

}  // namespace anyperf::cli
