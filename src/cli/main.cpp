// main.cpp: parses the command line, runs one verb, prints what went wrong. The only place that prints an Error.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include "cli/command_line.h"
#include "cli/verbs.h"

namespace {

using anyperf::Error;
using anyperf::Result;

constexpr int kOwnFailure = 125;  // as `env` and `timeout`: a failure of anyperf, not of the command it runs

constexpr std::size_t kLongestWord = 100;
constexpr std::size_t kLongestText = 1200;

/// What a user typed comes back in messages: a terminal must not obey it, nor be filled with it.
std::string printable(std::string text) {
    if (text.size() > kLongestText) text.replace(kLongestText, std::string::npos, "…");
    for (char& letter : text)
        if ((letter >= 0 && letter < ' ' && letter != '\n') || letter == 0x7f) letter = '?';
    return text;
}

void print_error(const Error& error) {
    if (error.what.empty()) return;  // whoever failed has said so
    fmt::print(stderr, "anyperf: {}\n", printable(error.what));
    if (!error.cause.empty()) fmt::print(stderr, "  cause: {}\n", printable(error.cause));
    if (!error.fix.empty()) fmt::print(stderr, "  fix:   {}\n", printable(error.fix));
}

/// What CLI11 found wrong, in our words.
Error in_our_words(const CLI::ParseError& error, const std::string& verb) {
    const std::string text = error.what();
    const std::string help = "anyperf " + verb + (verb.empty() ? "--help" : " --help");
    const auto colon = text.find(": ");
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && colon != std::string::npos) {
        const std::string words = text.substr(colon + 2, kLongestWord);
        if (!words.starts_with('-')) return {"bad argument " + words, "it is one more than is asked for", help};
        return {"unknown option " + words, verb + " has no option of this name", help + " lists them"};
    }
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
        return {text, "it says what this is about", help + " tells"};
    if (colon == std::string::npos || !text.starts_with('-')) return {"bad command line", text, help};
    return {"bad " + text.substr(0, colon), text.substr(colon + 2), help + " says what it takes"};
}

/// Of the first word, which should be a verb.
Error no_verb(const CLI::App& app, std::string_view word) {
    std::string verbs;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!verb->get_group().empty()) verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
    return {word.empty() ? "no verb" : "unknown verb " + std::string{word.substr(0, kLongestWord)},
            "the verbs are " + verbs, "anyperf --help says what each does"};
}

/// Whether the results reached standard output. A closed pipe has killed us already.
bool delivered() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
    print_error({"cannot write the results to standard output", std::generic_category().message(errno),
                 "make room, or send them elsewhere"});
    return false;
}

int run_chosen(const std::vector<std::pair<CLI::App*, anyperf::cli::Run>>& declared) {
    anyperf::cli::Output output{stdout, stderr};
    for (const auto& [subcommand, run] : declared) {
        if (!subcommand->parsed()) continue;
        const Result<int> status = run(output);
        if (status) return delivered() ? *status : kOwnFailure;
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
    } catch (const CLI::Success& help) {
        app.exit(help);
        return delivered() ? 0 : kOwnFailure;
    } catch (const CLI::ParseError& error) {
        const auto verb = app.get_subcommands();
        print_error(verb.empty() ? no_verb(app, argc > 1 ? argv[1] : "")
                                 : in_our_words(error, verb.front()->get_name()));
        return kOwnFailure;
    }
    return run_chosen(declared);
}
