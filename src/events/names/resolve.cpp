// resolve.cpp: one item of an event string to events. The sources of names are asked one after the other, and the first
// that knows the name decides; an error of a source is final, since only a source that recognises the form reports one.
// What a source has not used of the item must be modifiers.
#include "events/names/resolve.h"

#include <array>
#include <span>

#include "abi/attr_flags.h"
#include "events/sources/name_source.h"
#include "events/suggest/unknown_name.h"
#include "events/syntax/common_terms.h"
#include "events/syntax/modifiers.h"
#include "events/syntax/text.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// The sources in the order in which they are asked; docs/events.md lists it. The forms that no name can be mistaken
/// for come first. Tracepoints come last because they report what is wrong with SYSTEM:NAME. No name of the catalog
/// looks like a raw number or a tracepoint.
constexpr std::array kSources{
    from_breakpoints, from_probes, from_kernel_names, from_cache_names, from_pmus,
    from_pmu_events,  from_raw,    from_vendor,       from_catalog,     from_tracepoints,
};

/// The answer of the first source that knows the name.
Parsed<Match> match(const Machine::Data& machine, const Item& item) {
    for (const Source source : kSources) {
        auto found = source(machine, item);  // not TRY, which would move the Match that most sources leave empty
        if (!found) return std::unexpected(std::move(found).error());
        if (*found) return **std::move(found);
    }
    return unknown_event(machine, item);
}

/// The modifiers after the name: at most one list, either after the last colon or after the second slash.
Parsed<std::string_view> modifiers_of(const Item& item, const Match& match) {
    const auto left = std::span{item.parts}.subspan(match.parts_used);
    const auto nth = [&](std::size_t i) { return i < left.size() ? left[i] : item.tail[i - left.size()]; };
    const std::size_t count = left.size() + item.tail.size();
    if (count == 0) return std::string_view{};
    if (!are_modifiers(nth(0))) return unknown_modifiers(nth(0));
    if (count > 1) return parse_error(nth(1), "modifiers are given twice", "write all of them after one colon");
    return nth(0);
}

/// Modifier P: the highest precise_ip that the PMU reports in caps/max_precise. If it reports none, precise_ip stays at
/// 3 and whoever opens the event tries lower values.
void limit_precision(const Machine::Data& machine, Event& event) {
    if (!event.precise_max) return;
    const auto cores = machine.core_pmus();
    const host::Pmu* pmu = event.pmu.empty() && cores.size() == 1 ? cores[0] : machine.pmu(event.pmu);
    const auto most = pmu ? pmu->capability("max_precise") : std::nullopt;
    if (!most) return;
    const auto value = number(*most);
    if (value && *value <= 3) event.attr.flags = (event.attr.flags & ~abi::flag("precise_ip")) | *value << 15;
}

/// Sets the name to print: as typed, or, if one item became several events, with what distinguishes them:
/// "uncore_imc_0/clockticks/".
void assign_name(Event& event, const Item& item, const Match& match, std::string_view modifiers) {
    if (event.source_text.empty()) event.source_text = item.text;
    if (!match.distinct_names) {
        event.name = event.source_text;
    } else if (event.name.empty()) {
        const bool renamed = event.source_text != item.text;
        const std::string_view after_pmu = item.text.substr(item.parts[0].size());
        event.name = event.pmu;
        if (renamed)
            event.name += '/' + event.source_text + '/';
        else if (item.slashes && match.terms_used && !after_pmu.empty() && after_pmu.front() == '/')
            event.name += after_pmu;
        else
            event.name += '/' + std::string{item.parts[0]} + '/' + std::string{modifiers};
    }
}

}  // namespace

// Terms come before modifiers, so that cycles/period=1000/u has both. A name of the catalog may have set exclude bits
// by its own attributes (":u"); modifiers then add to these instead of replacing them.
Parsed<std::vector<Event>> resolve(const Machine::Data& machine, const Item& item) {
    Match found = TRY(match(machine, item));
    const std::string_view modifiers = TRY(modifiers_of(item, found));
    for (Event& event : found.events) {
        if (!found.terms_used) TRY(apply_common_terms(event, item.terms));
        if (!modifiers.empty() && found.name_sets_excludes)
            apply_group_modifiers(event, modifiers, true);
        else if (!modifiers.empty())
            apply_modifiers(event, modifiers);
        limit_precision(machine, event);
        assign_name(event, item, found, modifiers);
    }
    return std::move(found.events);
}

}  // namespace anyperf::events
