#include "cli/command/unknown_option.h"

#include <vector>

#include "cli/command/unserved_options.h"
#include "events/suggest/near_names.h"

namespace anyperf::cli {

namespace {

/// Short options are left out: each differs from any other by one letter, so all would be near.
std::vector<std::string> long_options(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const CLI::Option* option : verb.get_options()) {
        if (option->get_group().empty()) continue;  // hidden
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

}  // namespace

Error unknown_option(const CLI::App& verb, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    if (const auto why = why_unserved(verb.get_name(), name)) return *why;
    const std::string command = verb.get_parent() == nullptr ? "anyperf" : "anyperf " + verb.get_name();
    const std::string near = events::did_you_mean(name, long_options(verb));
    return {"unknown option " + name, command + " has no such option",
            near.empty() ? command + " --help lists the options" : near};
}

}  // namespace anyperf::cli
