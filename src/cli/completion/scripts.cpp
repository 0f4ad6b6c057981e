// scripts.cpp: reads what the verbs have declared to CLI11.
#include "cli/completion/scripts.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command/command_words.h"

namespace anyperf::cli {

namespace {

CompletedOption completed_option(const CLI::Option& option) {
    CompletedOption completed;
    for (const std::string& name : option.get_snames()) completed.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) completed.names.push_back("--" + name);
    completed.help = option.get_description();
    completed.takes_value = option.get_items_expected_min() > 0;
    if (option.check_lname("event")) completed.value_names = "events";
    if (option.check_lname("metrics")) completed.value_names = "metrics";
    return completed;
}

/// Whether the verb has a positional of this name.
bool has_positional(const CLI::App& verb, const std::string& name) {
    return std::ranges::any_of(verb.get_options(), [&](const CLI::Option* option) {
        return option->get_positional() && option->get_name(true) == name;
    });
}

}  // namespace

CompletedVerb completed_verb(const CLI::App& verb) {
    CompletedVerb completed{verb.get_name(), verb.get_description(), {}, false, false};
    for (const CLI::Option* option : verb.get_options())
        if (option->nonpositional() && !option->get_group().empty())
            completed.options.push_back(completed_option(*option));
    completed.takes_events = has_positional(verb, "EVENT") || has_positional(verb, "PATTERN");
    completed.takes_command = takes_command(verb);
    return completed;
}

}  // namespace anyperf::cli
