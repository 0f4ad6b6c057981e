// fish_script.cpp: completion for fish (complete(1)).
//
// fish has no function for a whole command, as bash and zsh have. Its rules are single lines, each with a condition
// (-n), and all rules whose condition holds add their words. So each verb has a line for each option, under the
// condition that the cursor is among the verb's own words. The functions at the head of the script are these
// conditions.
//
// A list of names ("-e cycles,instr…") is one word for fish, which offers only words that begin with what the user has
// typed. So each offered name gets what precedes it in the list.
#include <fmt/format.h>

#include <string_view>

#include "cli/completion/scripts.h"

namespace anyperf::cli {

namespace {

constexpr std::string_view kHead = R"fish(# fish completion for anyperf, printed by `anyperf completion fish`
function __anyperf_names
    set -l before (string match -r '^.*[,{]' -- (commandline -ct | string replace -r '^--[a-z]+=' ''))
    for name in (anyperf completion $argv[1] 2>/dev/null)
        echo "$before$name"
    end
end
# Whether the cursor is among the words of the verb $argv[1]. If $argv[2] is "command", a command's words are not
# among them. The other arguments are the options that take a value.
function __anyperf_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]; or return 1
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case --
                return 1
            case '-*'
                contains -- $words[$i] $argv[3..]; and set i (math $i + 1)
            case '*'
                test $argv[2] = command; and return 1
        end
        set i (math $i + 1)
    end
    return 0
end
function __anyperf_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end
complete -c anyperf -n __fish_use_subcommand -f -s h -l help -d 'list the verbs'
complete -c anyperf -n __fish_use_subcommand -f -s V -l version -d 'print the version'
complete -c anyperf -n __fish_use_subcommand -f -a help -d 'list the options of a verb'
)fish";

// In single quotes fish knows two escapes, \' and \\ (fish-language(1)).
std::string quoted(std::string_view text) {
    std::string safe = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') safe += '\\';
        safe += letter;
    }
    return safe + "'";
}

/// The names of the verb's options that take a value, each after a blank.
std::string valued_options(const CompletedVerb& verb) {
    std::string names;
    for (const CompletedOption& option : verb.options)
        for (const std::string& name : option.names)
            if (option.takes_value) names += " " + name;
    return names;
}

// -r: the option takes a value. -x: it takes a value, and only the given words complete it, not files.
std::string option_line(const std::string& start, const CompletedOption& option) {
    std::string text = start;
    for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (option.takes_value)
        text += option.value_names.empty() ? " -r" : fmt::format(" -x -a '(__anyperf_names {})'", option.value_names);
    return text + " -d " + quoted(option.help) + "\n";
}

/// The lines of one verb: itself, its options, its arguments. The arguments of a verb that takes a command are
/// completed as a command line of its own, which begins after anyperf and the verb (the 2 of --fcs-skip) and the verb's
/// options.
std::string verb_lines(const CompletedVerb& verb) {
    const std::string valued = valued_options(verb);
    const std::string start = fmt::format("complete -c anyperf -n '__anyperf_in {} {}{}'", verb.name,
                                          verb.takes_command ? "command" : "arguments", valued);
    std::string text =
        fmt::format("complete -c anyperf -n __fish_use_subcommand -f -a {} -d {}\n", verb.name, quoted(verb.summary));
    for (const CompletedOption& option : verb.options) text += option_line(start, option);
    if (verb.takes_command)
        text += fmt::format(
            "complete -c anyperf -n '__anyperf_verb {}' -x -a '(__fish_complete_subcommand --fcs-skip=2{})'\n",
            verb.name, valued);
    else
        text += start + (verb.takes_events ? " -f -a '(__anyperf_names events)'\n" : " -f\n");
    return text;
}

}  // namespace

std::string fish_script(const std::vector<CompletedVerb>& verbs) {
    std::string text{kHead}, names;
    for (const CompletedVerb& verb : verbs) {
        text += verb_lines(verb);
        names += (names.empty() ? "" : " ") + verb.name;
    }
    return text + fmt::format("complete -c anyperf -n '__anyperf_verb help' -f -a '{}'\n", names);
}

}  // namespace anyperf::cli
