// command_line.cpp: see command_line.h.
#include "cli/command_line.h"

namespace anyperf::cli {

namespace {

bool takes_value(const CLI::App& verb, const std::string& name) {
    const CLI::Option* option = verb.get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() > 0;
}

/// How many words the option at `args[i]` takes: itself, and its value where that is a word of its own.
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
        if (args[i].size() < 2 || args[i].front() != '-') return args;
        i += words_of_option(verb, args[i]);
    }
    return args;
}

Result<std::vector<std::string>> command_words(const CLI::App& verb) {
    auto words = verb.remaining();
    if (!words.empty() && words.front().size() > 1 && words.front().front() == '-')
        return std::unexpected(Error{"unknown option " + words.front(), verb.get_name() + " has no option of this name",
                                     "anyperf " + verb.get_name() + " --help lists them"});
    return words;
}

}  // namespace anyperf::cli
