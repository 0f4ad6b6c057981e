// resolve.cpp: see resolve.h.
#include "events/resolve.h"

#include <array>
#include <span>

#include "abi/attr_flags.h"
#include "events/common_terms.h"
#include "events/modifiers.h"
#include "events/source.h"
#include "events/text.h"
#include "events/unknown.h"

namespace anyperf::events {

namespace {

/// First the forms that no name can be mistaken for, then names: the kernel's, sysfs', the catalog's, tracepoints,
/// which are last because they know what is wrong with SYSTEM:NAME. No catalog name looks like a raw number or a
/// tracepoint.
constexpr std::array kSources{
    from_breakpoints, from_probes, from_kernel_names, from_cache_names, from_pmus,
    from_pmu_events,  from_raw,    from_catalog,      from_tracepoints,
};

Parsed<Match> match(const Machine::Data& machine, const Item& item) {
    for (const Source source : kSources) {
        auto found = source(machine, item);  // no TRY, which moves what most sources leave empty
        if (!found) return std::unexpected(std::move(found).error());
        if (*found) return **std::move(found);
    }
    return unknown_event(machine, item);
}

/// What stands behind the name: one list of modifiers at most.
Parsed<std::string_view> modifiers_of(const Item& item, const Match& match) {
    const auto left = std::span{item.parts}.subspan(match.parts);
    const auto nth = [&](std::size_t i) { return i < left.size() ? left[i] : item.tail[i - left.size()]; };
    const std::size_t count = left.size() + item.tail.size();
    if (count == 0) return std::string_view{};
    if (!are_modifiers(nth(0))) return unknown_modifiers(nth(0));
    if (count > 1) return fault(nth(1), "modifiers were given already", "write all of them behind one colon");
    return nth(0);
}

/// :P asks for the most that the PMU says it can do.
void limit_precision(const Machine::Data& machine, Event& event) {
    if (!event.precise_max) return;
    const auto cores = machine.core_pmus();
    const host::Pmu* pmu = event.pmu.empty() && cores.size() == 1 ? cores[0] : machine.pmu(event.pmu);
    const auto most = pmu ? pmu->capability("max_precise") : std::nullopt;
    if (!most) return;
    const auto value = number(*most);
    if (value && *value <= 3) event.attr.flags = (event.attr.flags & ~abi::flag("precise_ip")) | *value << 15;
}

/// As typed; where one item became several events, with what tells them apart: "uncore_imc_0/clockticks/".
void name(Event& event, const Item& item, const Match& match, std::string_view modifiers) {
    if (event.typed.empty()) event.typed = item.text;
    if (!match.name_each) {
        event.name = event.typed;
    } else if (event.name.empty()) {
        const bool renamed = event.typed != item.text;
        const std::string_view behind_pmu = item.text.substr(item.parts[0].size());
        event.name = event.pmu;
        if (renamed)
            event.name += '/' + event.typed + '/';
        else if (item.slashes && match.terms_used && !behind_pmu.empty() && behind_pmu.front() == '/')
            event.name += behind_pmu;
        else
            event.name += '/' + std::string{item.parts[0]} + '/' + std::string{modifiers};
    }
}

}  // namespace

Parsed<std::vector<Event>> resolve(const Machine::Data& machine, const Item& item) {
    Match found = TRY(match(machine, item));
    const std::string_view modifiers = TRY(modifiers_of(item, found));
    for (Event& event : found.events) {
        if (!found.terms_used) TRY(apply_common_terms(event, item.terms));
        if (!modifiers.empty() && found.own_excludes)
            apply_group_modifiers(event, modifiers, true);
        else if (!modifiers.empty())
            apply_modifiers(event, modifiers);
        limit_precision(machine, event);
        name(event, item, found, modifiers);
    }
    return std::move(found.events);
}

}  // namespace anyperf::events
