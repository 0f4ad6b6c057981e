// list.cpp: `anyperf list [PATTERN...]`: the events that can be named here, by PMU, with what each needs.
#include "cli/list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "anyperf/event_names.h"
#include "cli/list/catalog_names.h"
#include "cli/list/usable_events.h"
#include "cli/wrap.h"
#include "events/near_names.h"

namespace anyperf::cli {

namespace {

using events::Listed;
using host::Use;

constexpr std::size_t kWidth = 110;
constexpr std::size_t kNameColumn = 52;
constexpr std::size_t kNeedsColumn = 16;
constexpr std::size_t kDetailWidth = 80;

struct Options {
    std::vector<std::string> patterns;
    bool json = false;
    bool all = false;
    std::string describe;
    std::string root = "/";
};

std::string title(const UsableList& list) {
    switch (list.kind) {
        case Listed::hardware: return "hardware events, which the kernel names";
        case Listed::cache: return "hardware cache events";
        case Listed::software: return "software events";
        case Listed::pmu: return "PMU " + list.pmu;
        case Listed::catalog: return "events of the CPU by their makers' names, " + list.pmu;
        case Listed::tracepoint: return "tracepoints";
        case Listed::syntax: return "forms of other events";
    }
    return "";
}

std::string_view kind(Listed listed) {
    switch (listed) {
        case Listed::hardware: return "hardware";
        case Listed::cache: return "cache";
        case Listed::software: return "software";
        case Listed::pmu: return "pmu";
        case Listed::catalog: return "catalog";
        case Listed::tracepoint: return "tracepoint";
        case Listed::syntax: return "syntax";
    }
    return "";
}

std::string line(const UsableList& list, const UsableEvent& usable) {
    const auto& event = usable.event;
    const std::string name = event.alias.empty() ? event.name : event.name + " OR " + event.alias;
    const std::string_view needs = list.kind == Listed::syntax ? "" : words(usable.use);
    std::string detail = event.detail;
    if (detail.size() > kDetailWidth) detail = detail.substr(0, detail.rfind(' ', kDetailWidth)) + " …";
    if (!event.unit.empty()) detail += (detail.empty() ? "" : ", ") + ("in " + event.unit);
    std::string text = fmt::format("  {:<{}} {:<{}} {}", name, kNameColumn, needs, kNeedsColumn, detail);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
}

std::string reason(const std::string& label, const Error& why) {
    std::string text = wrap(label + why.cause, kWidth, 2) + '\n';
    if (!why.fix.empty()) text += "  fix: " + wrap(why.fix, kWidth, 7) + '\n';
    return text;
}

std::string block(const UsableList& list) {
    std::string text = title(list) + '\n';
    for (const UsableEvent& usable : list.events) text += line(list, usable);
    if (list.events.empty()) text += reason("  none: ", list.unreadable);
    return text;
}

/// What a word in the second column means here: the cause for the first event that has it, once.
std::string legend(const std::vector<UsableList>& lists) {
    std::string text;
    std::vector<Use> explained;
    for (const UsableList& list : lists) {
        for (const host::Usability& usability : list.reasons) {
            if (std::ranges::find(explained, usability.use) != explained.end()) continue;
            explained.push_back(usability.use);
            text += reason(fmt::format("{}: ", words(usability.use)), usability.why);
        }
    }
    return text.empty() ? text : '\n' + text;
}

std::string to_table(const std::vector<UsableList>& lists) {
    std::string text;
    for (const UsableList& list : lists) text += (text.empty() ? "" : "\n") + block(list);
    return text + legend(lists);
}

nlohmann::ordered_json to_json(const UsableList& list, const UsableEvent& usable) {
    nlohmann::ordered_json json{{"name", usable.event.name}, {"pmu", list.pmu}, {"kind", kind(list.kind)}};
    if (list.kind != Listed::syntax) json["usable"] = id(usable.use);
    if (!usable.event.alias.empty()) json["alias"] = usable.event.alias;
    if (!usable.event.detail.empty())
        json[list.kind == Listed::pmu       ? "terms"
             : list.kind == Listed::catalog ? "umasks"
                                            : "description"] = usable.event.detail;
    if (!usable.event.unit.empty()) json["unit"] = usable.event.unit;
    return json;
}

std::string to_json(const std::vector<UsableList>& lists) {
    nlohmann::ordered_json json{{"events", nlohmann::ordered_json::array()},
                                {"problems", nlohmann::ordered_json::array()}};
    for (const UsableList& list : lists) {
        for (const UsableEvent& usable : list.events) json["events"].push_back(to_json(list, usable));
        const auto add_problem = [&](const Error& why) {
            json["problems"].push_back(
                {{"kind", kind(list.kind)}, {"pmu", list.pmu}, {"cause", why.cause}, {"fix", why.fix}});
        };
        if (!list.unreadable.what.empty()) add_problem(list.unreadable);
        for (const host::Usability& usability : list.reasons) add_problem(usability.why);
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

/// Every name there is, to suggest near ones.
std::vector<std::string> all_names(const events::Machine& machine) {
    std::vector<std::string> names;
    for (const auto& list : events::list_events(machine))
        for (const auto& event : list.events) {
            names.push_back(event.name);
            if (!event.alias.empty()) names.push_back(event.alias);
        }
    return names;
}

/// How many events of CPUs that this machine doesn't have match.
std::size_t matches_elsewhere(const Options& options) {
    const auto names = events::EventNames::read(options.root);
    std::size_t matches = 0;
    for (const std::string& pattern : options.patterns) matches += names.match(pattern, true).size();
    return matches;
}

Error nothing_matches(const events::Machine& machine, const Options& options) {
    const std::string patterns = fmt::format("'{}'", fmt::join(options.patterns, "' or '"));
    if (options.all)
        return Error{"no event matches " + patterns, "no CPU that anyperf knows has one with it in its name",
                     "anyperf list --all without a pattern shows all", 1};
    const auto names = all_names(machine);
    std::string fix = events::did_you_mean(options.patterns.front(), names);
    if (const std::size_t elsewhere = matches_elsewhere(options); fix.empty() && elsewhere > 0)
        fix = fmt::format("{} of other CPUs do: anyperf list --all {}", elsewhere, patterns);
    return Error{"no event of this machine matches " + patterns,
                 fmt::format("none of its {} events has it in its name", names.size()),
                 fix.empty() ? "anyperf list without a pattern shows all" : fix, 1};
}

Result<int> list(const Options& options, Output& out) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.root, ignored))
        return std::unexpected(Error{"cannot list the events of the machine in " + options.root,
                                     "it is not a directory that can be read",
                                     "a directory with the machine's /proc and /sys below it"});
    if (!options.describe.empty()) {
        out.print(TRY(catalog_names({options.patterns, options.json, options.root, options.describe})));
        return 0;
    }
    const auto machine = events::Machine::read(options.root);
    const auto lists = usable_events(machine, host::Root{options.root}, options.patterns, options.all);
    if (lists.empty()) return std::unexpected(nothing_matches(machine, options));
    out.print(options.json ? to_json(lists) : to_table(lists));
    return 0;
}

Run declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("PATTERN", options->patterns,
                    "names, parts of names, shell patterns, or hw, sw, cache, pmu, catalog, tracepoint; default: all");
    verb.add_flag("--all", options->all, "the events of every CPU that anyperf knows, too");
    verb.add_option(
            "--describe", options->describe,
            "explain catalog names (PMU::EVENT patterns, or words) from the vendor's JSON event files below this")
        ->type_name("DIR");
    verb.add_flag("--json", options->json, "one JSON object");
    verb.add_option("--root", options->root, "list another machine's events, from its files below this directory")
        ->type_name("DIR");
    return [options](Output& out) { return list(*options, out); };
}

}  // namespace

constinit const Verb kList{"list", "the events that can be named here, and what each needs", declare};

}  // namespace anyperf::cli
