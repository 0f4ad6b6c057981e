// completion.cpp: the hidden verb `anyperf completion`. It prints the completion script for bash, zsh or fish. The
// script is made from the options that the verbs declare, so it has all of them. The verb also prints the names of
// events and metrics, which these scripts ask for. A test compares the options of the script for bash with the man
// pages.
#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>
#include <ranges>
#include <set>

#include "cli/completion/scripts.h"
#include "cli/list/metric_names.h"
#include "events/names/listing.h"

namespace anyperf::cli {

namespace {

/// The declarations of all verbs but hidden ones, from the program that `verb` belongs to.
std::vector<CompletedVerb> completed_verbs(const CLI::App& verb) {
    std::vector<CompletedVerb> verbs;
    for (const CLI::App* each : verb.get_parent()->get_subcommands([](const CLI::App*) { return true; }))
        if (!each->get_group().empty()) verbs.push_back(completed_verb(*each));
    return verbs;
}

/// The names of events that `anyperf list` shows here, and their aliases, one per line.
std::string event_names() {
    std::string text;
    for (const auto& list : events::list_events(events::Machine::read())) {
        if (list.kind == events::NameOrigin::syntax) continue;
        for (const auto& event : list.events) {
            text += event.name + "\n";
            if (!event.alias.empty()) text += event.alias + "\n";
        }
    }
    return text;
}

/// The names of the metrics that -M can compute here, and of their groups, one per line.
std::string metric_names_and_groups() {
    const auto lists = metric_names(events::Machine::read(), host::Root{}, {});
    std::set<std::string> names;
    for (const MetricNames& list : lists ? *lists : std::vector<MetricNames>{})
        for (const MetricName& metric : list.metrics) {
            if (metric.missing) continue;
            names.insert(metric.name);
            for (const auto group : std::views::split(metric.groups, ';')) names.emplace(group.begin(), group.end());
        }
    names.erase("");
    return names.empty() ? "" : fmt::format("{}\n", fmt::join(names, "\n"));
}

struct Shell {
    std::string_view name;
    std::string (*script)(const std::vector<CompletedVerb>&);
};
constexpr std::array kShells{
    Shell{"bash", bash_script},
    Shell{"zsh", zsh_script},
    Shell{"fish", fish_script},
};

Result<int> completion(const CLI::App& verb, const std::string& what, Output& out) {
    if (what == "events") {
        out.print(event_names());
        return 0;
    }
    if (what == "metrics") {
        out.print(metric_names_and_groups());
        return 0;
    }
    for (const Shell& shell : kShells) {
        if (shell.name != what) continue;
        out.print(shell.script(completed_verbs(verb)));
        return 0;
    }
    return std::unexpected(Error{"cannot write a completion script for " + what,
                                 "only bash, zsh and fish are supported", "anyperf completion bash, zsh or fish"});
}

VerbAction declare(CLI::App& verb) {
    auto what = std::make_shared<std::string>();
    verb.add_option("SHELL", *what, "bash, zsh, fish; or events, metrics: the names that the scripts complete")
        ->required();
    verb.group("");  // not in --help
    return [what, &verb](Output& out) { return completion(verb, *what, out); };
}

}  // namespace

constinit const Verb kCompletion{"completion", "print the script that a shell completes with", declare};

}  // namespace anyperf::cli
