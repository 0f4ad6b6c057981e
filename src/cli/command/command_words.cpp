// command_words.cpp: walks the words before the command to find the `--` that ends the verb's options.
#include "cli/command/command_words.h"

#include "cli/command/unknown_option.h"

namespace anyperf::cli {

namespace {

/// Whether an option takes a value. An unknown option takes none; command_words() refuses it later.
bool takes_value(const CLI::App& verb, const std::string& name) {
    const CLI::Option* option = verb.get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() > 0;
}

/// How many words the option `word` takes: 1, or 2 if its value is the next word. "--name=value" and "-nvalue" are one
/// word. In a cluster of short options ("-ae x") the first option that takes a value takes the rest of the word, or the
/// next word if nothing is left.
std::size_t words_of_option(const CLI::App& verb, const std::string& word) {
    if (word.starts_with("--")) return word.find('=') == std::string::npos && takes_value(verb, word) ? 2 : 1;
    for (std::size_t letter = 1; letter < word.size(); ++letter)
        if (takes_value(verb, std::string{"-"} + word[letter])) return letter + 1 == word.size() ? 2 : 1;
    return 1;
}

}  // namespace

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
