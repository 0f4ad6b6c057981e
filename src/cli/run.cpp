// run.cpp: `anyperf run -- COMMAND`.
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <system_error>

#include "broker/counts.h"
#include "broker/run.h"
#include "cli/command_line.h"
#include "cli/run.h"

namespace anyperf::cli {

namespace {

struct Options {
    std::vector<std::string> command;
    CLI::Option* count = nullptr;
    std::string classes;
    std::string count_to;
    bool deterministic = false;
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

/// What the command's end is to who has called us: its exit status, or the same death.
int exit_as(int status) {
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    return 128 + WTERMSIG(status);
}

Result<int> run(const Options& options, Output& out) {
    if (options.command.empty())
        return std::unexpected(
            Error{"there is nothing to run", "the command line ends before a command", "anyperf run -- COMMAND"});
    broker::RunOptions wish{options.command, 0, options.deterministic};
    const bool counts = options.count->count() > 0 || !options.count_to.empty();
    if (counts) wish.counting = TRY(broker::parse_classes(options.classes));
    if (!options.count_to.empty() && !std::ofstream{options.count_to})
        return std::unexpected(
            Error{"cannot write the counts to " + options.count_to, std::generic_category().message(errno), ""});
    const broker::RunResult result = TRY(broker::run(wish));
    if (counts) TRY(write_counts(options, result, out));
    return exit_as(result.status);
}

Run declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    options->count =
        verb.add_flag("--count{all}", options->classes, "count what retires; =CLASSES: only these, a comma list")
            ->option_text("[=CLASSES]");
    verb.add_option("--count-to", options->count_to, "write the counts to FILE instead of standard error")
        ->option_text("FILE");
    verb.add_flag("--deterministic", options->deterministic, "the same addresses and random bytes in every run");
    verb.add_option("command", options->command, "the command and its arguments")->option_text("[--] COMMAND");
    verb.positionals_at_end();  // what follows the command's name is the command's, options and `--` too
    return [options](Output& out) { return run(*options, out); };
}

}  // namespace

constinit const Verb kRun{"run", "run a command in the engine, and count it exactly", declare};

}  // namespace anyperf::cli
