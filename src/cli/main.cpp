// main.cpp: parses the command line, runs one verb, prints what went wrong. The only place that prints an Error.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/verbs.h"

namespace {

using anyperf::Error;
using anyperf::Result;

constexpr int kOwnFailure = 125;  // as `env` and `timeout`: a failure of anyperf, not of the command it runs

void print_error(const Error& error) {
    fmt::print(stderr, "anyperf: {}\n", error.what);
    if (!error.cause.empty()) fmt::print(stderr, "  cause: {}\n", error.cause);
    if (!error.fix.empty()) fmt::print(stderr, "  fix:   {}\n", error.fix);
}

int run_chosen(const std::vector<std::pair<CLI::App*, anyperf::cli::Run>>& declared) {
    anyperf::cli::Output output{stdout, stderr};
    for (const auto& [subcommand, run] : declared) {
        if (!subcommand->parsed()) continue;
        const Result<int> status = run(output);
        if (status) return *status;
        print_error(status.error());
        return status.error().exit_status;
    }
    return kOwnFailure;
}

/// What CLI11 is to parse, last word first as it wants them.
std::vector<std::string> words_to_parse(const CLI::App& app, int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    const auto verb =
        app.get_subcommands([&](const CLI::App* each) { return !words.empty() && each->get_name() == words.front(); });
    if (!verb.empty() && verb.front()->get_prefix_command()) {
        auto behind = anyperf::cli::without_separator(*verb.front(), {words.begin() + 1, words.end()});
        words.resize(1);
        std::ranges::move(behind, std::back_inserter(words));
    }
    std::ranges::reverse(words);
    return words;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Linux performance events, anywhere", "anyperf"};
    app.set_version_flag("--version", "anyperf " ANYPERF_VERSION);
    app.require_subcommand(1);
    std::vector<std::pair<CLI::App*, anyperf::cli::Run>> declared;
    for (const auto* verb : anyperf::cli::verbs()) {
        CLI::App* subcommand = app.add_subcommand(std::string{verb->name}, std::string{verb->summary});
        declared.emplace_back(subcommand, verb->declare(*subcommand));
    }
    try {
        app.parse(words_to_parse(app, argc, argv));
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kOwnFailure;
    }
    return run_chosen(declared);
}
