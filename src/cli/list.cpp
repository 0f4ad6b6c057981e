// list.cpp: `anyperf list [PATTERN…]`: the events that can be named here, by PMU, with what each needs to be opened.
// The facts come from list/checked_events.h; this file formats them. Two other tables have files of their own: that of
// `--describe` (list/catalog_names.h) and that of metrics (list/metric_names.h).
#include "cli/list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "anyperf/event_names.h"
#include "cli/list/catalog_names.h"
#include "cli/list/checked_events.h"
#include "cli/list/metric_names.h"
#include "cli/output/wrap.h"
#include "events/suggest/near_names.h"
#include "host/machine_copy.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using events::NameOrigin;
using host::Use;

// Columns of the table.
constexpr std::size_t kWidth = 110;
constexpr std::size_t kNameColumn = 52;
// Wide enough for the usual words; a longer one widens the column of its section.
constexpr std::size_t kNeedsColumn = 16;
constexpr std::size_t kDetailWidth = 80;

/// If this is the first pattern, the metrics are listed, and the other patterns choose among them.
constexpr std::string_view kMetrics = "metrics";

struct Options {
    std::vector<std::string> patterns;
    bool json = false;
    bool all = false;
    std::string describe;  ///< a directory with event files; empty: the list of this machine
    std::string root = "/";
};

/// The headline of a list.
std::string title(const CheckedList& list) {
    switch (list.kind) {
        case NameOrigin::hardware: return "hardware events";
        case NameOrigin::cache: return "hardware cache events";
        case NameOrigin::software: return "software events";
        case NameOrigin::pmu: return "PMU " + list.pmu;
        case NameOrigin::catalog: return "vendor event names, " + list.pmu;
        case NameOrigin::vendor: return "perf's event names, " + list.pmu;
        case NameOrigin::tracepoint: return "tracepoints";
        case NameOrigin::syntax: return "syntax of other events";
    }
    return "";
}

/// The kind in the words of the JSON.
std::string_view kind(NameOrigin listed) {
    switch (listed) {
        case NameOrigin::hardware: return "hardware";
        case NameOrigin::cache: return "cache";
        case NameOrigin::software: return "software";
        case NameOrigin::pmu: return "pmu";
        case NameOrigin::catalog: return "catalog";
        case NameOrigin::vendor: return "vendor";
        case NameOrigin::tracepoint: return "tracepoint";
        case NameOrigin::syntax: return "syntax";
    }
    return "";
}

/// A row of the table, whose second column is `needs_column` wide. A long detail is cut between words; JSON has all of
/// it.
std::string line(const CheckedList& list, const CheckedEvent& usable, std::size_t needs_column) {
    const auto& event = usable.event;
    const std::string name = event.alias.empty() ? event.name : event.name + " OR " + event.alias;
    const std::string_view needs = list.kind == NameOrigin::syntax ? "" : words(usable.use);
    std::string detail = usable.modelled ? "modelled" : "";
    if (!usable.machine.empty()) detail += ": " + usable.machine;
    if (!event.detail.empty()) detail += (detail.empty() ? "" : " ") + event.detail;
    if (detail.size() > kDetailWidth) detail = detail.substr(0, detail.rfind(' ', kDetailWidth)) + " …";
    if (!event.unit.empty()) detail += (detail.empty() ? "" : ", ") + ("in " + event.unit);
    std::string text = fmt::format("  {:<{}} {:<{}} {}", name, kNameColumn, needs, needs_column, detail);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
}

/// Two wrapped paragraphs: the cause, and the fix if there is one.
std::string reason(const std::string& label, const Error& why, std::string_view fix_label = "fix: ") {
    std::string text = wrap(label + why.cause, kWidth, 2) + '\n';
    if (!why.fix.empty()) text += fmt::format("  {}{}\n", fix_label, wrap(why.fix, kWidth, 7));
    return text;
}

/// The section of one kind or PMU.
std::string block(const CheckedList& list) {
    std::string text = title(list) + '\n';
    std::size_t needs_column = kNeedsColumn;
    for (const CheckedEvent& usable : list.events) needs_column = std::max(needs_column, words(usable.use).size());
    for (const CheckedEvent& usable : list.events) text += line(list, usable, needs_column);
    if (list.events.empty()) text += reason("  none: ", list.unreadable);
    return text;
}

/// Explains the second column of the table, which has only a word for each event ("needs privilege"). For each word
/// other than "usable": the cause that was found for the first event with it, and the fix. One cause represents all
/// events with the same word, so the legend stays short.
std::string legend(const std::vector<CheckedList>& lists) {
    std::string text;
    std::vector<Use> explained;  // words that already have their line
    for (const CheckedList& list : lists) {
        for (const host::Usability& usability : list.reasons) {
            if (std::ranges::find(explained, usability.use) != explained.end()) continue;
            explained.push_back(usability.use);
            text += reason(fmt::format("{}: ", words(usability.use)), usability.why,
                           usability.use == Use::user_space ? "how: " : "fix: ");
        }
    }
    return text.empty() ? text : '\n' + text;
}

std::string to_table(const std::vector<CheckedList>& lists) {
    std::string text;
    for (const CheckedList& list : lists) text += (text.empty() ? "" : "\n") + block(list);
    return text + legend(lists);
}

/// One event. `detail` has a key that says what it is: "terms", "umasks" or "description".
nlohmann::ordered_json to_json(const CheckedList& list, const CheckedEvent& usable) {
    nlohmann::ordered_json json{{"name", usable.event.name}, {"pmu", list.pmu}, {"kind", kind(list.kind)}};
    if (list.kind != NameOrigin::syntax) json["usable"] = id(usable.use);
    if (!usable.event.alias.empty()) json["alias"] = usable.event.alias;
    if (!usable.event.detail.empty())
        json[list.kind == NameOrigin::pmu       ? "terms"
             : list.kind == NameOrigin::catalog ? "umasks"
                                                : "description"] = usable.event.detail;
    if (!usable.event.unit.empty()) json["unit"] = usable.event.unit;
    if (usable.modelled) json["modelled"] = true;
    if (!usable.machine.empty()) json["machine"] = usable.machine;
    return json;
}

std::string to_json(const std::vector<CheckedList>& lists) {
    nlohmann::ordered_json json{{"events", nlohmann::ordered_json::array()},
                                {"problems", nlohmann::ordered_json::array()}};
    for (const CheckedList& list : lists) {
        for (const CheckedEvent& usable : list.events) json["events"].push_back(to_json(list, usable));
        const auto add_problem = [&](const Error& why) {
            json["problems"].push_back(
                {{"kind", kind(list.kind)}, {"pmu", list.pmu}, {"cause", why.cause}, {"fix", why.fix}});
        };
        if (!list.unreadable.what.empty()) add_problem(list.unreadable);
        for (const host::Usability& usability : list.reasons) add_problem(usability.why);
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

/// The names that could have been typed, for suggestions. `no_tracepoints`: why the names of tracepoints could not be
/// read; nothing if they could.
struct KnownNames {
    std::vector<std::string> names;
    std::optional<Error> no_tracepoints;
};

KnownNames known_names(const events::Machine& machine) {
    KnownNames known;
    for (const auto& list : events::list_events(machine)) {
        if (list.kind == NameOrigin::tracepoint) known.no_tracepoints = list.unreadable;
        for (const auto& event : list.events) {
            known.names.push_back(event.name);
            if (!event.alias.empty()) known.names.push_back(event.alias);
        }
    }
    return known;
}

/// The number of catalog events, of any CPU, that match the patterns.
std::size_t matches_elsewhere(const Options& options) {
    const auto names = events::EventNames::read(options.root);
    std::size_t matches = 0;
    for (const std::string& pattern : options.patterns) matches += names.match(pattern, true).size();
    return matches;
}

/// The error for patterns without a match. Its fix is a near name, or the number of matches on other CPUs. The exit
/// status is 1, as that of grep(1), not the 125 of a failure. The names are only read for this message.
Error nothing_matches(const events::Machine& machine, const Options& options) {
    const std::string patterns = fmt::format("'{}'", fmt::join(options.patterns, "' or '"));
    if (options.all)
        return Error{"no event matches " + patterns, "no event name of any known CPU contains it",
                     "anyperf list --all without a pattern shows all", 1};
    const auto [names, no_tracepoints] = known_names(machine);
    const bool for_tracepoints = std::ranges::any_of(options.patterns, asks_for_tracepoints);
    if (no_tracepoints && for_tracepoints)
        return Error{"no event of this machine matches " + patterns,
                     "tracepoints cannot be looked up: " + no_tracepoints->cause, no_tracepoints->fix, 1};
    // A near name is the best hint, since most patterns without a match are misspelled.
    std::string fix = events::did_you_mean(options.patterns.front(), names);
    if (const std::size_t elsewhere = matches_elsewhere(options); fix.empty() && elsewhere > 0)
        fix = fmt::format("{} events of other CPUs match: anyperf list --all {}", elsewhere, patterns);
    return Error{"no event of this machine matches " + patterns,
                 fmt::format("none of its {} event names contains {}", names.size(),
                             options.patterns.size() == 1 ? "it" : "one of them"),
                 fix.empty() ? "anyperf list without a pattern shows all" : fix, 1};
}

// Prints one of the three tables of the verb: the catalog with descriptions (--describe), metrics, or the events of the
// machine.
Result<int> list(const Options& options, Output& out) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.root, ignored))
        return std::unexpected(Error{"cannot list the events of the machine in " + options.root,
                                     "not a readable directory",
                                     "give a directory with the machine's /proc and /sys below it"});
    TRY(host::check_copy(host::Root{options.root}));
    if (!options.describe.empty()) {
        out.print(TRY(catalog_names({options.patterns, options.json, options.root, options.describe})));
        return 0;
    }
    const auto machine = events::Machine::read(options.root);
    if (!options.patterns.empty() && options.patterns.front() == kMetrics) {
        const auto metrics = TRY(
            metric_names(machine, host::Root{options.root}, {options.patterns.begin() + 1, options.patterns.end()}));
        out.print(options.json ? metrics_json(metrics) : metrics_table(metrics));
        return 0;
    }
    const auto lists = check_events(machine, host::Root{options.root}, options.patterns, options.all);
    if (lists.empty()) return std::unexpected(nothing_matches(machine, options));
    out.print(options.json ? to_json(lists) : to_table(lists));
    return 0;
}

VerbAction declare(CLI::App& verb) {
    auto options = std::make_shared<Options>();
    verb.add_option("PATTERN", options->patterns,
                    "names, parts of names, shell patterns, or hw, sw, cache, pmu, catalog, vendor, tracepoint; "
                    "default: all. metrics "
                    "[PATTERN]: metrics of the CPU");
    verb.add_flag("--all", options->all, "also list the events of every other CPU that anyperf knows");
    verb.add_option("--describe", options->describe,
                    "describe catalog names (PMU::EVENT patterns, or words) from the vendor's JSON event files in this "
                    "directory")
        ->type_name("DIR");
    verb.add_flag("--json", options->json, "print one JSON object");
    verb.add_option("--root", options->root,
                    "list another machine's events, from a copy of its /sys and /proc in this directory")
        ->type_name("DIR");
    return [options](Output& out) { return list(*options, out); };
}

}  // namespace

constinit const Verb kList{"list", "the events that can be named here, and what each needs", declare};

}  // namespace anyperf::cli
