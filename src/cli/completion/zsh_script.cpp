// zsh_script.cpp: completion for zsh, by _arguments (zshcompsys(1)). `-S` ends the options at `--`; `-A "-*"` at the
// first word of a command.
//
// _arguments gets a specification for each spelling of an option, and does the rest: it knows where options may be,
// which of them take the next word, and what `--name=` begins. compset -P takes what precedes the last comma or brace
// of a list of names out of the word that is completed. The words after "command" go to _normal, the completion of any
// command.
#include <fmt/format.h>

#include <string_view>

#include "cli/completion/scripts.h"

namespace anyperf::cli {

namespace {

constexpr std::string_view kHead = R"zsh(#compdef anyperf
# zsh completion for anyperf, printed by `anyperf completion zsh`
_anyperf_names() {
    local -a names
    names=(${(f)"$(_call_program $1 ${(q)anyperf} completion $1 2>/dev/null)"})
    compset -P '*[,{]'
    compadd -a names
}
_anyperf_events() { _anyperf_names events }
_anyperf_metrics() { _anyperf_names metrics }
_anyperf() {
    local anyperf=${words[1]} curcontext=$curcontext
    local -a verbs
    verbs=(
)zsh";

constexpr std::string_view kMiddle = R"zsh(    )
    if ((CURRENT == 2)) || [[ $CURRENT -eq 3 && ${words[2]} == help ]]; then
        _describe -t verbs verb verbs
        ((CURRENT == 2)) && compadd -- help --help --version
        return
    fi
    local verb=${words[2]}
    shift words
    ((CURRENT--))
    case $verb in
)zsh";

constexpr std::string_view kTail = R"zsh(    esac
}
_anyperf "$@"
)zsh";

/// Escapes text for single quotes in the arguments of _arguments and _describe, for which brackets and colons have a
/// meaning.
std::string escaped(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '\'') {
            safe += "'\\''";
            continue;
        }
        if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') safe += '\\';
        safe += letter;
    }
    return safe;
}

/// The specification of one spelling of an option: '*--event=[help]:value:action'. The star lets it be repeated. "="
/// lets a long option's value follow after an "=" or as the next word, "+" that of a letter directly or as the next
/// word.
std::string specification(const CompletedOption& option, const std::string& name) {
    const std::string_view joined = !option.takes_value ? "" : name.starts_with("--") ? "=" : "+";
    const std::string value = !option.takes_value          ? ""
                              : option.value_names.empty() ? ":value:_files"
                                                           : fmt::format(":{0}:_anyperf_{0}", option.value_names);
    return fmt::format("            '*{}{}[{}]{}' \\\n", name, joined, escaped(option.help), value);
}

std::string verb_case(const CompletedVerb& verb) {
    std::string text =
        fmt::format("        {}) _arguments -s -S{} \\\n", verb.name, verb.takes_command ? " -A '-*'" : "");
    for (const CompletedOption& option : verb.options)
        for (const std::string& name : option.names) text += specification(option, name);
    if (verb.takes_command)
        text += "            '(-)1:command:_command_names -e' '*::arguments:_normal' ;;\n";
    else if (verb.takes_events)
        text += "            '*:event:_anyperf_events' ;;\n";
    else
        text += "            ;;\n";
    return text;
}

}  // namespace

std::string zsh_script(const std::vector<CompletedVerb>& verbs) {
    std::string names, cases;
    for (const CompletedVerb& verb : verbs) {
        names += fmt::format("        '{}:{}'\n", verb.name, escaped(verb.summary));
        cases += verb_case(verb);
    }
    return fmt::format("{}{}{}{}{}", kHead, names, kMiddle, cases, kTail);
}

}  // namespace anyperf::cli
