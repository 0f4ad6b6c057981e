// scripts.h: the completion scripts of bash, zsh and fish, made from what the verbs declare. The names of events and
// metrics are not part of a script: it asks `anyperf completion events` or `anyperf completion metrics` when the user
// completes one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace anyperf::cli {

struct CompletedOption {
    std::vector<std::string> names;  ///< "-e", "--event"
    std::string help;                ///< one line
    bool takes_value = false;        ///< as the next word
    std::string_view value_names{};  ///< "events", "metrics": the value is a list of such names; empty: other text
};

struct CompletedVerb {
    std::string name;
    std::string summary;
    std::vector<CompletedOption> options;  ///< without hidden ones
    bool takes_events = false;             ///< its arguments are events
    bool takes_command = false;            ///< its arguments are a command, whose options are not the verb's
};

/// Reads the declarations of a verb.
CompletedVerb completed_verb(const CLI::App& verb);

std::string bash_script(const std::vector<CompletedVerb>& verbs);
std::string zsh_script(const std::vector<CompletedVerb>& verbs);
std::string fish_script(const std::vector<CompletedVerb>& verbs);

}  // namespace anyperf::cli
