// completion.cpp: `anyperf completion bash`: the script that bash completes anyperf's command line with, made from what
// the verbs declare. Not in --help: the package installs what it prints.
#include "cli/completion.h"

#include <fmt/format.h>

#include "cli/verbs.h"

namespace anyperf::cli {

namespace {

constexpr std::string_view kHead = R"(# bash completion for anyperf, printed by `anyperf completion bash`
_anyperf() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb= words= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] && continue
        verb=${COMP_WORDS[i]}
        break
    done
    COMPREPLY=()
    if [[ $prev == -e || $prev == --event || ($verb == encode && $cur != -*) ]]; then
        words=$("${COMP_WORDS[0]}" list hw sw cache 2>/dev/null | sed -n 's/^  \([^ ]*\)  *.*/\1/p')
    else
        case $verb in
)";

constexpr std::string_view kTail = R"(        esac
        [[ $cur == -* || -z $verb ]] || return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o bashdefault -o default -F _anyperf anyperf
)";

/// "-e --event --json …" of a verb, as CLI11 knows them.
std::string options_of(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;  // hidden
        for (const std::string& name : option->get_snames()) text += " -" + name;
        for (const std::string& name : option->get_lnames()) text += " --" + name;
    }
    return text.substr(std::min<std::size_t>(1, text.size()));
}

std::string script() {
    std::string names, cases;
    for (const Verb* verb : verbs()) {
        CLI::App app{std::string{verb->summary}, std::string{verb->name}};
        const Run not_run = verb->declare(app);
        if (app.get_group().empty()) continue;  // hidden
        names += fmt::format("{} ", verb->name);
        cases += fmt::format("        {}) words=\"{}\" ;;\n", verb->name, options_of(app));
    }
    return fmt::format("{}        \"\") words=\"{}--help --version\" ;;\n{}{}", kHead, names, cases, kTail);
}

Result<int> completion(const std::string& shell, Output& out) {
    if (shell != "bash")
        return std::unexpected(Error{"cannot write a completion script for " + shell,
                                     "bash is the only shell there is one for", "anyperf completion bash"});
    out.print(script());
    return 0;
}

Run declare(CLI::App& verb) {
    auto shell = std::make_shared<std::string>();
    verb.add_option("SHELL", *shell, "bash")->required();
    verb.group("");  // not in --help
    return [shell](Output& out) { return completion(*shell, out); };
}

}  // namespace

constinit const Verb kCompletion{"completion", "print the script that a shell completes with", declare};

}  // namespace anyperf::cli
