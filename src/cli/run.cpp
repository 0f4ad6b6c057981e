// run.cpp: `anyperf run -- COMMAND`.
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <memory>

#include "broker/counts.h"
#include "broker/run.h"
#include "cli/verb.h"

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
    return std::unexpected(Error{"cannot write the counts to " + options.count_to, std::generic_category().message(errno), ""});
}

/// What the command's end is to who has called us: its exit status, or the same death.
int exit_as(int status) {
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    return 128 + WTERMSIG(status);
}

Result<int> run(const Options& options, Output& out) {
    broker::RunOptions wish{options.command, 0, options.deterministic};
    const bool counts = options.count->count() > 0 || !options.count_to.empty();
    if (counts) wish.counting = TRY(broker::parse_classes(options.classes));
    if (!options.count_to.empty() && !std::ofstream{options.count_to})
        return std::unexpected(Error{"cannot write the counts to " + options.count_to, std::generic_category().message(errno), ""});
    const broker::RunResult result = TRY(broker::run(wish));
    if (counts) TRY(write_counts(options, result, out));
    return exit_as(result.status);
}

Run declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    options->count = verb.add_option("--count", options->classes,
                                     "count what retires: a comma list of classes, all of them without a list")
                         ->expected(0, 1)
                         ->option_text("[CLASSES]");
    verb.add_option("--count-to", options->count_to, "write the counts to FILE instead of standard error")->option_text("FILE");
    verb.add_flag("--deterministic", options->deterministic, "the same addresses and random bytes in every run");
    verb.add_option("COMMAND", options->command, "the program and its arguments")->required();
    verb.positionals_at_end();
    return [options](Output& out) { return run(*options, out); };
}

}  // namespace

extern const Verb kRun;
constinit const Verb kRun{"run", "run a command in the engine, and count it exactly", declare};

}  // namespace anyperf::cli
