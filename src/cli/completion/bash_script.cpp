// bash_script.cpp: completion for bash. bash splits words at ':' and '=' as well as at blanks, but event names and long
// options contain these. So the script splits the line itself, at blanks only. From each completion it removes the part
// that is before bash's own current word.
#include <fmt/format.h>

#include <string_view>

#include "cli/completion/scripts.h"

namespace anyperf::cli {

namespace {

// The variables of the script: `verb` is the second word. `option` is the option whose value is being typed. `words`
// are the candidates. `valued` are the options of the verb that take a value. `takes` says what the verb's arguments
// are: "command", "events", or empty for others.
constexpr std::string_view kHead = R"bash(# bash completion for anyperf, printed by `anyperf completion bash`
_anyperf() {
    local line=${COMP_LINE:0:COMP_POINT} cur=${COMP_WORDS[COMP_CWORD]} verb= option= words= valued= takes= i
    local -a typed
    read -ra typed <<< "$line"
    [[ $line == *[[:blank:]] ]] && typed+=("")
    local last=$((${#typed[@]} - 1))
    local value=${typed[last]}
    [[ $last -gt 1 && ${typed[1]} != help ]] && verb=${typed[1]}
    [[ $cur == [:=] ]] && cur=
    COMPREPLY=()
    case $verb in
)bash";

constexpr std::string_view kTail = R"bash(    esac
    for ((i = 2; i < last; i++)); do
        case ${typed[i]} in
            --) [[ $takes == command && $i -eq $((last - 1)) ]] && COMPREPLY=($(compgen -c -- "$cur")); return ;;
            -*) [[ " $valued " == *" ${typed[i]} "* ]] && option=${typed[i]} && ((++i)) ;;
            *) [[ $takes == command ]] && return ;;
        esac
    done
    ((i > last)) || option=
    [[ $value == --*=* ]] && option=${value%%=*} && value=${value#*=}
    local names=
    [[ $option == -e || $option == --event || ($takes == events && -z $option && $value != -*) ]] && names=events
    [[ $option == -M || $option == --metrics ]] && names=metrics
    if [[ -n $names ]]; then
        local name=${value##*[,\{]}
        words=$("${COMP_WORDS[0]}" completion $names 2>/dev/null)
        COMPREPLY=($(compgen -P "${value%"$name"}" -W "$words" -- "$name"))
        local before=${value%"$cur"}
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    elif [[ -n $option ]]; then
        return
    elif [[ $value == -* || -z $verb ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    elif [[ $takes == command ]]; then
        COMPREPLY=($(compgen -c -- "$cur"))
    fi
}
complete -o bashdefault -o default -F _anyperf anyperf
)bash";

}  // namespace

// The verbs' options become rows of a `case`; everything else is the same text for all verbs. The script runs anyperf
// for event names when the user completes one, since they depend on the machine.
std::string bash_script(const std::vector<CompletedVerb>& verbs) {
    std::string names, cases;
    for (const CompletedVerb& verb : verbs) {
        std::string words, valued;
        for (const CompletedOption& option : verb.options)
            for (const std::string& name : option.names) {
                words += (words.empty() ? "" : " ") + name;
                if (option.takes_value) valued += (valued.empty() ? "" : " ") + name;
            }
        names += verb.name + " ";
        cases += fmt::format("        {}) words=\"{}\" valued=\"{}\" takes={} ;;\n", verb.name, words, valued,
                             verb.takes_command  ? "command"
                             : verb.takes_events ? "events"
                                                 : "");
    }
    return fmt::format("{}{}        \"\") words=\"{}help --help --version\" ;;\n{}", kHead, cases, names, kTail);
}

}  // namespace anyperf::cli
