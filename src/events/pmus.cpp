// pmus.cpp: "cpu/event=0x3c/", "uncore_imc*/clockticks/" and events of sysfs by their bare names.
#include <algorithm>

#include "events/common_terms.h"
#include "events/glob.h"
#include "events/pmu_terms.h"
#include "events/source.h"

namespace anyperf::events {

namespace {

constexpr std::string_view kUncore = "uncore_";

bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "uncore_imc_2" without "_2": instances of one kind of PMU share what is left.
std::string_view without_instance(std::string_view name) {
    const std::size_t last = name.find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == name.size()) return name;
    return name.substr(0, name[last] == '_' ? last : last + 1);
}

/// perf's rule: `typed` may be a pattern, may leave out "uncore_", and may leave out the instance's number.
bool pmu_name_matches(std::string_view typed, std::string_view name) {
    if (name.empty()) return false;
    if (name.starts_with(kUncore) && !typed.starts_with(kUncore)) name.remove_prefix(kUncore.size());
    if (is_glob(typed)) return glob_matches(typed, name) || glob_matches(typed, without_instance(name));
    if (!name.starts_with(typed)) return false;
    std::string_view rest = name.substr(typed.size());
    if (rest.starts_with('_')) rest.remove_prefix(1);
    return name.size() == typed.size() || all_digits(rest);
}

std::vector<const host::Pmu*> pmus_called(const Machine::Data& machine, std::string_view typed) {
    if (const host::Pmu* exact = machine.pmu(typed)) return {exact};
    std::vector<const host::Pmu*> found;
    for (const host::Pmu& pmu : machine.pmus)
        if (pmu_name_matches(typed, pmu.name()) || pmu_name_matches(typed, pmu.alias())) found.push_back(&pmu);
    return found;
}

/// A pattern may take in PMUs that can't do what is asked (uncore_*/clockticks/): those that can are meant.
Parsed<std::vector<Event>> events_of(const Machine::Data& machine, const std::vector<const host::Pmu*>& pmus,
                                     std::span<const Term> terms) {
    std::vector<Event> events;
    std::optional<Fault> first;
    for (const host::Pmu* pmu : pmus) {
        auto event = resolve_pmu_terms(machine, *pmu, terms);
        if (event)
            events.push_back(*std::move(event));
        else if (!first)
            first = std::move(event).error();
    }
    if (events.empty() && first) return std::unexpected(*std::move(first));
    return events;
}

/// PMUs of different kinds that have an event of this name: the user must say which.
std::string candidates(const std::vector<const host::Pmu*>& pmus, std::string_view name) {
    std::string list;
    std::string_view last;
    for (const host::Pmu* pmu : pmus) {
        const std::string_view kind = without_instance(pmu->name());
        if (kind == last) continue;
        last = kind;
        list += (list.empty() ? "" : ", ") + std::string{kind} + '/' + std::string{name} + '/';
    }
    return list;
}

bool one_kind(const std::vector<const host::Pmu*>& pmus) {
    const std::string_view kind = without_instance(pmus.front()->name());
    return std::ranges::all_of(pmus, &host::Pmu::is_core) ||
           std::ranges::all_of(pmus, [&](const host::Pmu* pmu) { return without_instance(pmu->name()) == kind; });
}

}  // namespace

Parsed<std::optional<Match>> from_pmus(const Machine::Data& machine, const Item& item) {
    if (!item.slashes || item.parts.size() > 1) return std::nullopt;
    const auto pmus = pmus_called(machine, item.parts[0]);
    if (pmus.empty()) return std::nullopt;
    Match match {
        TRY(events_of(machine, pmus, item.terms))
        , 1, true
    };
    match.name_each = match.events.size() > 1;
    return match;
}

Parsed<std::optional<Match>> from_pmu_events(const Machine::Data& machine, const Item& item) {
    if (item.parts[0].empty()) return std::nullopt;
    const auto pmus = machine.pmus_with_event(item.parts[0]);
    if (pmus.empty()) return std::nullopt;
    if (!one_kind(pmus))
        return fault(item.parts[0], "several PMUs have an event of this name",
                     "say which: " + candidates(pmus, item.parts[0]));
    std::vector<Term> terms{{item.parts[0], item.parts[0], {}}};
    terms.insert(terms.end(), item.terms.begin(), item.terms.end());
    Match match {
        TRY(events_of(machine, pmus, terms))
        , 1, true
    };
    match.name_each = match.events.size() > 1;
    return match;
}

}  // namespace anyperf::events
