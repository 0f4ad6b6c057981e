// main.cpp: parses the command line, runs one verb, and prints what went wrong. This is the only place that prints an
// Error. Options and help texts are the verbs' (verbs.h); this file knows no verb by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/command/command_words.h"
#include "cli/command/heap.h"
#include "cli/command/own_stack.h"
#include "cli/command/unknown_option.h"
#include "cli/verbs.h"
#include "events/suggest/near_names.h"
#include "try.h"

namespace {

using anyperf::Error;
using anyperf::Result;

// The exit status for a failure of anyperf itself, as env(1) and timeout(1) have it: a command's own status can rarely
// be mistaken for it.
constexpr int kOwnFailure = 125;

// In bytes. A word that the user typed, and a whole line of a message, are cut at these lengths.
constexpr std::size_t kLongestWord = 100;
constexpr std::size_t kLongestText = 1200;

/// Makes text safe for a terminal. Messages repeat what the user typed, which may contain escape sequences or be
/// megabytes long: control characters become '?', and long text is cut. Bytes above 0x7f stay, since they may be UTF-8.
std::string printable(std::string text) {
    if (text.size() > kLongestText) text.replace(kLongestText, std::string::npos, "…");
    for (char& letter : text)
        if ((letter >= 0 && letter < ' ' && letter != '\n') || letter == 0x7f) letter = '?';
    return text;
}

/// Prints up to three lines: what failed, the cause, the fix. An error without text was already printed by the engine.
void print_error(const Error& error) {
    if (error.what.empty()) return;
    std::string text = "anyperf: " + printable(error.what) + "\n";
    if (!error.cause.empty()) text += "  cause: " + printable(error.cause) + "\n";
    if (!error.fix.empty()) text += "  fix:   " + printable(error.fix) + "\n";
    std::fputs(text.c_str(), stderr);  // fmt::print would throw on a full disk
}

/// Prints the error and returns its exit status.
int fail(const Error& error) {
    print_error(error);
    return error.exit_status;
}

/// The first of the words that is an option; empty if none is.
std::string first_option(const std::string& words) {
    for (const auto piece : std::views::split(words, ' ')) {
        const std::string word{piece.begin(), piece.end()};
        if (word.starts_with('-') && word.size() > 1 && word != "--") return word;
    }
    return {};
}

/// The error for an option whose value is missing, or is not a number. CLI11's texts, "--event: 1 required TEXT
/// missing" and "Could not convert: --percent-limit = x", are about types of C++.
Error bad_value(const CLI::ParseError& error, const std::string& help) {
    const std::string text = error.what();
    const auto colon = text.find(": ");
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch))
        return {"bad " + text.substr(0, colon), "its value is missing", "see " + help};
    const auto equals = text.find(" = ", colon);
    if (equals == std::string::npos) return {"bad command line", text, "see " + help};
    const std::string option = text.substr(colon + 2, equals - colon - 2);
    return {fmt::format("bad {} {}", option, text.substr(equals + 3, kLongestWord)), "it is not a number that fits",
            "see " + help};
}

/// Translates an error of CLI11, whose texts look like "--counters: Value x not in range", into what, cause and fix.
Error to_error(const CLI::ParseError& error, const CLI::App& app) {
    const std::string text = error.what();
    const std::string& verb = app.get_name();
    const std::string help = "anyperf " + verb + " --help";
    const auto colon = text.find(": ");
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && colon != std::string::npos) {
        // The words that were not expected. `--` may be among them.
        const std::string words = text.substr(colon + 2, kLongestWord);
        if (const std::string option = first_option(words); !option.empty())
            return anyperf::cli::unknown_option(app, option);
        const bool reads = app.get_option_no_throw("--input") != nullptr;
        return {"bad argument " + words, "unexpected extra argument",
                reads ? "a recording is given with -i; see " + help : "see " + help};
    }
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
        return {text, "anyperf " + verb + " needs this argument", "see " + help};
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch) ||
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConversionError))
        return bad_value(error, help);
    if (colon == std::string::npos || !text.starts_with('-')) return {"bad command line", text, "see " + help};
    return {"bad " + text.substr(0, colon), text.substr(colon + 2), "see " + help};
}

/// The verb of this name, hidden ones included; else null.
const CLI::App* find_verb(const CLI::App& app, const std::string& name) {
    const auto found = app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
    return found.empty() ? nullptr : found.front();
}

/// The error for a first word that is not a verb, or is missing. Hidden verbs are not named.
Error bad_verb(const CLI::App& app, const std::string& word) {
    std::vector<std::string> verbs;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!verb->get_group().empty()) verbs.push_back(verb->get_name());
    const std::string near = anyperf::events::did_you_mean(word, verbs);
    return {word.empty() ? "no verb" : "unknown verb " + word.substr(0, kLongestWord),
            fmt::format("the verbs are {}", fmt::join(verbs, ", ")),
            near.empty() ? "anyperf --help describes them" : near};
}

/// The error for a command line without a known verb: its first word is an unknown option, or not a verb.
Error bad_first_word(const CLI::App& app, const std::string& word) {
    return word.starts_with("--") && word.size() > 2 ? anyperf::cli::unknown_option(app, word) : bad_verb(app, word);
}

/// Flushes standard output. False, with a message, if results could not be written. A closed pipe is not seen here as a
/// rule: SIGPIPE has ended the process.
bool flush_results() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
    print_error({"cannot write the results to standard output", std::generic_category().message(errno),
                 "free disk space, or redirect the output elsewhere"});
    return false;
}

/// The verbs as CLI11 knows them, and what they do.
using Declared = std::vector<std::pair<CLI::App*, anyperf::cli::VerbAction>>;

/// Runs the verb that the command line chose, and returns anyperf's exit status.
int run_parsed_verb(const Declared& declared) {
    anyperf::cli::Output output{stdout, stderr};
    for (const auto& [subcommand, action] : declared) {
        if (!subcommand->parsed()) continue;
        const Result<int> status = action(output);
        if (status) return flush_results() ? *status : kOwnFailure;
        return fail(status.error());
    }
    return kOwnFailure;
}

/// "help VERB" as "VERB --help", and "help" alone as "--help". Other words stay. Error: VERB is not a verb.
Result<std::vector<std::string>> without_help_verb(const CLI::App& app, std::vector<std::string> words) {
    if (words.empty() || words.front() != "help") return words;
    if (words.size() == 1) return std::vector<std::string>{"--help"};
    if (find_verb(app, words[1]) == nullptr) return std::unexpected(bad_verb(app, words[1]));
    return std::vector<std::string>{words[1], "--help"};
}

/// The words for CLI11, which takes them last word first. Options have their whole names. The separator `--` of a verb
/// that takes a command is removed. Error: as of without_help_verb().
Result<std::vector<std::string>> words_to_parse(const CLI::App& app, int argc, char** argv) {
    auto words = TRY(without_help_verb(app, {argv + 1, argv + argc}));
    const CLI::App* const verb = words.empty() ? nullptr : find_verb(app, words.front());
    if (verb != nullptr) {
        auto after_verb = TRY(anyperf::cli::with_whole_names(*verb, {words.begin() + 1, words.end()}));
        if (verb->get_prefix_command()) after_verb = anyperf::cli::without_separator(*verb, std::move(after_verb));
        words.resize(1);
        std::ranges::move(after_verb, std::back_inserter(words));
    }
    std::ranges::reverse(words);
    return words;
}

/// Declares the verbs. If the first word is the name of one, it needs no other, unless it is hidden: then it is about
/// the others. The options of all verbs take a millisecond.
Declared declare_verbs(CLI::App& app, std::string_view first_word) {
    Declared declared;
    const auto declare = [&](const anyperf::cli::Verb& verb) {
        CLI::App* const subcommand = app.add_subcommand(std::string{verb.name}, std::string{verb.summary});
        declared.emplace_back(subcommand, verb.declare(*subcommand));
    };
    const auto all = anyperf::cli::verbs();
    const auto chosen = std::ranges::find(all, first_word, &anyperf::cli::Verb::name);
    if (chosen != all.end()) declare(**chosen);
    if (!declared.empty() && !declared.front().first->get_group().empty()) return declared;
    for (const auto* verb : all)
        if (chosen == all.end() || verb != *chosen) declare(*verb);
    return declared;
}

/// Parses the command line and runs its verb. Returns the exit status.
int run_command_line(int argc, char** argv) {
    CLI::App app{"Linux performance events, anywhere", "anyperf"};
    app.set_version_flag("-V,--version", "anyperf " ANYPERF_VERSION);
    app.require_subcommand(1);
    app.footer("anyperf help VERB lists a verb's options.");
    const Declared declared = declare_verbs(app, argc > 1 ? argv[1] : "");
    auto words = words_to_parse(app, argc, argv);
    if (!words) return fail(words.error());
    try {
        app.parse(*words);
    } catch (const CLI::Success& help) {
        app.exit(help);
        return flush_results() ? 0 : kOwnFailure;
    } catch (const CLI::ParseError& error) {
        const auto verb = app.get_subcommands();
        return fail(verb.empty() ? bad_first_word(app, argc > 1 ? argv[1] : "") : to_error(error, *verb.front()));
    }
    return run_parsed_verb(declared);
}

}  // namespace

int main(int argc, char** argv) {
    anyperf::cli::use_large_pages_for_heap();
    return anyperf::cli::with_enough_stack([=] { return run_command_line(argc, argv); });
}
