// unknown.cpp: see unknown.h.
#include "events/unknown.h"

#include <algorithm>
#include <array>

#include "events/cache_names.h"
#include "events/event_names_data.h"
#include "events/kernel_names.h"
#include "events/modifiers.h"
#include "events/near_names.h"
#include "events/other_cpus.h"
#include "events/source.h"
#include "events/text.h"

namespace anyperf::events {

namespace {

/// Names that perf takes in -e and that are no events of the kernel.
struct ToolName {
    std::string_view name;
    std::string_view why;
};
constexpr std::array kToolNames{
    ToolName{"duration_time", "it is the time elapsed, no event: `anyperf stat` takes it and measures it itself"},
    ToolName{"user_time", "it is CPU time of the command, no event: `anyperf stat` takes it and measures it itself"},
    ToolName{"system_time", "it is CPU time of the command, no event: `anyperf stat` takes it and measures it itself"},
};

constexpr std::string_view kCorePmu = "cpu";

void add_pmu_names(const Machine::Data& machine, std::vector<std::string>& names) {
    for (const host::Pmu& pmu : machine.pmus)
        for (const host::Alias& alias : pmu.details().aliases) names.push_back(alias.name);
}

std::vector<std::string> event_names(const Machine::Data& machine) {
    std::vector<std::string> names = cache_event_names();
    for (const KernelName& row : kKernelNames) {
        names.emplace_back(row.name);
        if (!row.alias.empty()) names.emplace_back(row.alias);
    }
    add_pmu_names(machine, names);
    for (std::string& name : catalog_event_names(machine)) names.push_back(std::move(name));
    return names;
}

std::unexpected<Fault> unknown_pmu(const Machine::Data& machine, std::string_view name) {
    std::vector<std::string> names;
    names.reserve(machine.pmus.size());
    for (const host::Pmu& pmu : machine.pmus) names.push_back(pmu.name());
    std::string fix = did_you_mean(name, names);
    if (same(name, kCorePmu) && machine.core_pmus().empty())
        return fault(
            name, "this machine has no hardware PMU, and so none called " + in_quotes(name),
            "`anyperf stat --virtual -- COMMAND` and `anyperf run` give a command one; `anyperf explain` tells why");
    if (fix.empty() && !names.empty()) {
        fix = "this machine has";
        for (const std::string& pmu : names) fix += ' ' + pmu;
    }
    return fault(name, "this machine has no PMU and no event called " + in_quotes(name), fix);
}

/// "skl::NAME"
std::unexpected<Fault> unknown_prefix(const Machine::Data& machine, std::string_view prefix, const Item& item) {
    const catalog::PmuRow* pmu = pmu_called(prefix);
    if (pmu == nullptr) {
        const std::string near = did_you_mean(prefix, catalog_pmu_names());
        return fault(prefix, "the catalog has no PMU called " + in_quotes(prefix),
                     near.empty() ? "`anyperf list --all` shows the events of all that there are" : near);
    }
    const std::string near = did_you_mean(item.parts[2], names_of_events(machine.catalog(), *pmu));
    return fault(item.parts[2], "the PMU " + in_quotes(prefix) + " has no event called " + in_quotes(item.parts[2]),
                 near.empty() ? "`anyperf list --all '" + std::string{prefix} + "::*'` shows its events" : near);
}

}  // namespace

std::unexpected<Fault> unknown_event(const Machine::Data& machine, const Item& item) {
    const std::string_view name = item.parts[0];
    if (item.slashes && item.parts.size() == 1) return unknown_pmu(machine, name);
    if (item.parts.size() > 2 && item.parts[1].empty()) return unknown_prefix(machine, name, item);
    const auto tool = std::ranges::find(kToolNames, name, &ToolName::name);
    if (tool != kToolNames.end()) return fault(name, std::string{tool->why}, "leave it out");
    if (auto others = of_other_cpus(machine, name)) return std::unexpected(*std::move(others));
    const std::string near = did_you_mean(name, event_names(machine));
    return fault(name, "no event is called " + in_quotes(name),
                 near.empty() ? "`anyperf list` shows what there is" : near);
}

std::unexpected<Fault> unknown_modifiers(std::string_view letters) {
    std::string known;
    for (const ModifierRow& row : modifier_rows()) known += row.letter;
    const auto stranger = letters.find_first_not_of(known);
    if (letters.empty()) return fault(letters, "a modifier is missing behind the ':'", "modifiers are: " + known);
    if (stranger != std::string_view::npos)
        return fault(letters.substr(stranger, 1), in_quotes(letters.substr(stranger, 1)) + " is no modifier",
                     "modifiers are: " + known);
    return fault(letters, "a modifier is given twice (only p may be, up to three times)", "give it once");
}

}  // namespace anyperf::events
