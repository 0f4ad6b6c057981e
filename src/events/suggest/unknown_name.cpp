#include "events/suggest/unknown_name.h"

#include <algorithm>
#include <array>

#include "events/names/event_names_data.h"
#include "events/sources/cache_names.h"
#include "events/sources/kernel_names.h"
#include "events/sources/name_source.h"
#include "events/suggest/near_names.h"
#include "events/suggest/other_cpus.h"
#include "events/syntax/modifiers.h"
#include "events/syntax/text.h"

namespace anyperf::events {

namespace {

/// Names that perf takes in -e though they are not events.
struct ToolName {
    std::string_view name;
    std::string_view why;
};
constexpr std::array kToolNames{
    ToolName{"duration_time", "it is the elapsed time, not an event; only `anyperf stat` measures it"},
    ToolName{"user_time", "it is CPU time of the command, not an event; only `anyperf stat` measures it"},
    ToolName{"system_time", "it is CPU time of the command, not an event; only `anyperf stat` measures it"},
};

constexpr std::string_view kCorePmu = "cpu";

/// The events of all PMUs in sysfs.
void add_pmu_names(const Machine::Data& machine, std::vector<std::string>& names) {
    for (const host::Pmu& pmu : machine.pmus)
        for (const host::Alias& alias : pmu.details().aliases) names.push_back(alias.name);
}

/// All names that may be suggested for an item without slashes.
std::vector<std::string> event_names(const Machine::Data& machine) {
    std::vector<std::string> names = cache_event_names();
    for (const KernelName& row : kKernelNames) {
        names.emplace_back(row.name);
        if (!row.alias.empty()) names.emplace_back(row.alias);
    }
    add_pmu_names(machine, names);
    for (std::string& name : catalog_event_names(machine)) names.push_back(std::move(name));
    if (const vendor::ListRow* list = machine.vendor_list())
        for (const vendor::EventRow& row : vendor::events(*list)) names.push_back(vendor::name_of(row));
    return names;
}

/// "name/…/": the name of a PMU was expected.
std::unexpected<ParseError> unknown_pmu(const Machine::Data& machine, std::string_view name) {
    std::vector<std::string> names;
    names.reserve(machine.pmus.size());
    for (const host::Pmu& pmu : machine.pmus) names.push_back(pmu.name());
    std::string fix = did_you_mean(name, names);
    if (same_ignoring_case(name, kCorePmu) && machine.core_pmus().empty())
        return parse_error(
            name, "this machine has no hardware PMU, so it has no PMU called " + in_quotes(name),
            "`anyperf stat --virtual -- COMMAND` and `anyperf run` give a command one; `anyperf explain` shows why");
    if (fix.empty() && !names.empty()) {
        fix = "this machine has";
        for (const std::string& pmu : names) fix += ' ' + pmu;
    }
    return parse_error(name, "this machine has no PMU or event called " + in_quotes(name), fix);
}

/// "skl::NAME": the prefix or the event is unknown.
std::unexpected<ParseError> unknown_prefix(const Machine::Data& machine, std::string_view prefix, const Item& item) {
    const catalog::PmuRow* pmu = resolve_pmu_name(prefix);
    if (pmu == nullptr) {
        const std::string near = did_you_mean(prefix, catalog_pmu_names());
        return parse_error(prefix, "the catalog has no PMU called " + in_quotes(prefix),
                           near.empty() ? "`anyperf list --all` shows the events of all PMUs" : near);
    }
    const std::string near = did_you_mean(item.parts[2], pmu_event_names(machine.catalog(), *pmu));
    return parse_error(item.parts[2],
                       "the PMU " + in_quotes(prefix) + " has no event called " + in_quotes(item.parts[2]),
                       near.empty() ? "`anyperf list --all '" + std::string{prefix} + "::*'` shows its events" : near);
}

}  // namespace

std::string near_event(const Machine::Data& machine, std::string_view name) {
    return did_you_mean(name, event_names(machine));
}

// What is missing depends on the form of the item: with slashes a PMU, with "::" a prefix or an event of it, else an
// event.
std::unexpected<ParseError> unknown_event(const Machine::Data& machine, const Item& item) {
    const std::string_view name = item.parts[0];
    if (item.slashes && item.parts.size() == 1) return unknown_pmu(machine, name);
    if (item.parts.size() > 2 && item.parts[1].empty()) return unknown_prefix(machine, name, item);
    // First the names of perf that are not events, then events of other CPUs, then misspellings.
    const auto tool = std::ranges::find(kToolNames, name, &ToolName::name);
    if (tool != kToolNames.end()) return parse_error(name, std::string{tool->why}, "leave it out");
    if (auto others = explain_event_of_other_cpus(machine, name)) return std::unexpected(*std::move(others));
    const std::string near = near_event(machine, name);
    return parse_error(name, "no event is called " + in_quotes(name),
                       near.empty() ? "`anyperf list` shows the events" : near);
}

std::unexpected<ParseError> unknown_modifiers(std::string_view letters) {
    std::string known;
    for (const ModifierRow& row : modifier_rows()) known += row.letter;
    const auto first_unknown = letters.find_first_not_of(known);
    if (letters.empty()) return parse_error(letters, "a modifier is missing after the ':'", "modifiers are: " + known);
    if (first_unknown != std::string_view::npos)
        return parse_error(letters.substr(first_unknown, 1),
                           in_quotes(letters.substr(first_unknown, 1)) + " is not a modifier",
                           "modifiers are: " + known);
    return parse_error(letters, "a modifier is given twice (only p may be, up to three times)", "give it once");
}

}  // namespace anyperf::events
