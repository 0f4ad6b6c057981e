// pmus.cpp: resolves "cpu/event=0x3c/", "uncore_imc*/clockticks/" and events of sysfs without the name of a PMU.
#include <algorithm>

#include "events/sources/name_source.h"
#include "events/sources/pmu_terms.h"
#include "events/syntax/common_terms.h"
#include "events/syntax/glob.h"
#include "try.h"

namespace anyperf::events {

namespace {

using Pmus = std::span<const host::Pmu* const>;

constexpr std::string_view kUncore = "uncore_";

bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "uncore_imc" for "uncore_imc_2": the name that all instances of one kind of PMU share.
std::string_view without_instance(std::string_view name) {
    const std::size_t last = name.find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == name.size()) return name;
    return name.substr(0, name[last] == '_' ? last : last + 1);
}

/// Matches as perf does: `typed` may be a pattern, and may omit "uncore_" and the number of the instance.
bool pmu_name_matches(std::string_view typed, std::string_view name) {
    if (name.empty()) return false;
    if (name.starts_with(kUncore) && !typed.starts_with(kUncore)) name.remove_prefix(kUncore.size());
    if (is_glob(typed)) return glob_matches(typed, name) || glob_matches(typed, without_instance(name));
    if (!name.starts_with(typed)) return false;
    std::string_view rest = name.substr(typed.size());
    if (rest.starts_with('_')) rest.remove_prefix(1);
    return name.size() == typed.size() || all_digits(rest);
}

/// All PMUs that `typed` may mean; used if no PMU has exactly this name.
std::vector<const host::Pmu*> pmus_like(const Machine::Data& machine, std::string_view typed) {
    std::vector<const host::Pmu*> found;
    for (const host::Pmu& pmu : machine.pmus)
        if (pmu_name_matches(typed, pmu.name()) || pmu_name_matches(typed, pmu.alias())) found.push_back(&pmu);
    return found;
}

/// One event for each PMU that can resolve the terms. A pattern (uncore_*/clockticks/) may match PMUs that can't, which
/// are skipped. Returns the first error if no PMU can.
Parsed<Match> match_of(const Machine::Data& machine, Pmus pmus, std::span<const Term> terms) {
    Match match{{}, 1, true};
    std::optional<ParseError> first;
    match.events.reserve(pmus.size());
    for (const host::Pmu* pmu : pmus) {
        auto added = resolve_pmu_terms(machine, *pmu, terms, match.events.emplace_back());
        if (added) continue;
        match.events.pop_back();
        if (!first) first = std::move(added).error();
    }
    if (match.events.empty() && first) return std::unexpected(*std::move(first));
    match.distinct_names = match.events.size() > 1;
    return match;
}

/// The choices that a message offers: PMU/name/ for each kind of PMU that has the event.
std::string candidates(Pmus pmus, std::string_view name) {
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

/// Whether all PMUs are instances of one kind, or all are core PMUs.
bool one_kind(Pmus pmus) {
    const std::string_view kind = without_instance(pmus.front()->name());
    return std::ranges::all_of(pmus, &host::Pmu::is_core) ||
           std::ranges::all_of(pmus, [&](const host::Pmu* pmu) { return without_instance(pmu->name()) == kind; });
}

}  // namespace

Parsed<std::optional<Match>> from_pmus(const Machine::Data& machine, const Item& item) {
    if (!item.slashes || item.parts.size() > 1) return std::nullopt;
    if (const host::Pmu* exact = machine.pmu(item.parts[0])) return TRY(match_of(machine, {&exact, 1}, item.terms));
    const auto pmus = pmus_like(machine, item.parts[0]);
    if (pmus.empty()) return std::nullopt;
    return TRY(match_of(machine, pmus, item.terms));
}

// "clockticks" without a PMU means all instances of the kind of PMU that has the event. If several kinds have it, only
// the user can say which is meant.
Parsed<std::optional<Match>> from_pmu_events(const Machine::Data& machine, const Item& item) {
    if (item.parts[0].empty()) return std::nullopt;
    const Pmus pmus = machine.pmus_with_event(item.parts[0]);
    if (pmus.empty()) return std::nullopt;
    if (!one_kind(pmus))
        return parse_error(item.parts[0], "several PMUs have an event of this name",
                           "name one: " + candidates(pmus, item.parts[0]));
    ScratchMemory scratch;
    Terms terms{scratch.memory()};
    terms.reserve(1 + item.terms.size());
    terms.push_back({item.parts[0], item.parts[0], {}});
    terms.insert(terms.end(), item.terms.begin(), item.terms.end());
    return TRY(match_of(machine, pmus, terms));
}

}  // namespace anyperf::events
