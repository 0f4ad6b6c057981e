// command_words.cpp: walks the words before the command to find the `--` that ends the verb's options.
#include "cli/command/command_words.h"

#include <algorithm>

#include "cli/command/unknown_option.h"
#include "cli/command/unserved_options.h"
#include "try.h"

namespace anyperf::cli {

namespace {

/// Whether an option takes a value. An unknown option takes none; command_words() refuses it later.
bool takes_value(const CLI::App& verb, const std::string& name) {
    const CLI::Option* option = verb.get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() > 0;
}

/// The option in `word` whose value is the next word; null if it has none. "--name=value" and "-nvalue" are one word,
/// "--name=" is not. In a cluster of short options ("-ae x") the first option that takes a value takes the rest of the
/// word, or the next word if nothing is left.
const CLI::Option* option_before_value(const CLI::App& verb, const std::string& word) {
    if (word.starts_with("--")) {
        const std::string name = word.ends_with('=') ? word.substr(0, word.size() - 1) : word;  // as CLI11 reads it
        return name.find('=') == std::string::npos && takes_value(verb, name) ? verb.get_option(name) : nullptr;
    }
    for (std::size_t letter = 1; letter < word.size(); ++letter)
        if (const std::string name = std::string{"-"} + word[letter]; takes_value(verb, name))
            return letter + 1 == word.size() ? verb.get_option(name) : nullptr;
    return nullptr;
}

/// How many words the option `word` takes, with its values.
std::size_t words_of_option(const CLI::App& verb, const std::string& word) {
    const CLI::Option* const option = option_before_value(verb, word);
    return option == nullptr ? 1 : 1 + static_cast<std::size_t>(std::max(option->get_items_expected_min(), 1));
}

/// Error: the option args[at] needs a value, and a `--` follows. CLI11 would take that for the value, and then the
/// words of the command for options.
Result<void> check_values(const CLI::App& verb, const std::vector<std::string>& args, std::size_t at) {
    const CLI::Option* const option = option_before_value(verb, args[at]);
    if (option == nullptr) return {};
    for (int i = 1; i <= option->get_items_expected_min(); ++i) {
        const std::size_t value = at + static_cast<std::size_t>(i);
        if (value < args.size() && args[value] == "--")
            return std::unexpected(Error{"bad " + option->get_name(), "its value is missing: -- ends the options",
                                         "see anyperf " + verb.get_name() + " --help"});
    }
    return {};
}

/// The only long option that begins with `name`; `name` itself if it is an option, or if none or several begin so.
std::string whole_name(const CLI::App& verb, const std::string& name) {
    if (verb.get_option_no_throw(name) != nullptr || why_unserved(verb.get_name(), name)) return name;
    std::vector<std::string> found;
    for (const CLI::Option* option : verb.get_options())
        for (const std::string& each : option->get_lnames())
            if (("--" + each).starts_with(name)) found.push_back("--" + each);
    return found.size() == 1 ? found.front() : name;
}

/// Removes the number from "-z3" (perf record), or "-gz3", and returns it; empty if the word is something else. A value
/// of -z must not be the next word, which may be the command.
std::string take_level(const CLI::App& verb, std::string& word) {
    const CLI::Option* const compress = verb.get_option_no_throw("-z");
    if (compress == nullptr || compress->get_items_expected_max() != 0 || word.starts_with("--")) return {};
    const std::size_t letter = word.find('z');
    if (letter == std::string::npos || letter + 1 == word.size()) return {};
    for (std::size_t i = 1; i < letter; ++i)
        if (takes_value(verb, std::string{"-"} + word[i])) return {};
    if (word.find_first_not_of("0123456789", letter + 1) != std::string::npos) return {};
    const std::string level = word.substr(letter + 1);
    word.resize(letter + 1);
    return level;
}

}  // namespace

bool takes_command(const CLI::App& verb) {
    return verb.get_prefix_command() || verb.get_option_no_throw("command") != nullptr;
}

Result<std::vector<std::string>> with_whole_names(const CLI::App& verb, std::vector<std::string> args) {
    for (std::size_t i = 0; i < args.size();) {
        std::string& word = args[i];
        const bool is_option = word.size() > 1 && word.front() == '-';
        if (word == "--" || (!is_option && takes_command(verb))) return args;
        const std::size_t equals = std::min(word.find('='), word.size());
        if (word.starts_with("--")) word = whole_name(verb, word.substr(0, equals)) + word.substr(equals);
        if (is_option) TRY(check_values(verb, args, i));
        const std::size_t next = i + (is_option ? words_of_option(verb, word) : 1);
        const std::string level = is_option ? take_level(verb, word) : std::string{};
        if (!level.empty()) args.insert(args.begin() + static_cast<std::ptrdiff_t>(i), "--compression-level=" + level);
        i = next + (level.empty() ? 0 : 1);
    }
    return args;
}

std::vector<std::string> without_separator(const CLI::App& verb, std::vector<std::string> args) {
    for (std::size_t i = 0; i < args.size();) {
        if (args[i] == "--") {
            args.erase(args.begin() + static_cast<std::ptrdiff_t>(i));
            return args;
        }
        if (args[i].size() < 2 || args[i].front() != '-')
            return args;  // the command begins here; "-" alone is not an option
        i += words_of_option(verb, args[i]);
    }
    return args;
}

Result<std::vector<std::string>> command_words(const CLI::App& verb) {
    auto words = verb.remaining();
    if (!words.empty() && words.front().size() > 1 && words.front().front() == '-')
        return std::unexpected(unknown_option(verb, words.front()));
    return words;
}

}  // namespace anyperf::cli
