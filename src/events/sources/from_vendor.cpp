// from_vendor.cpp: the source of perf's own event names: "inst_retired.any" and "ex_ret_instr" of cores,
// "unc_m_cas_count.rd" of PMUs outside of the cores. They come from the vendors' lists (src/events/vendor).
//
// Like perf, it treats them as events of the PMUs that the list names, so that terms can change them:
// "cpu/inst_retired.any,cmask=1/" (pmu_terms.cpp). If sysfs has no such PMU, an event of the cores becomes a raw event,
// as names of the catalog do. An event of another PMU can then be shown but not opened.
#include <fmt/format.h>

#include <algorithm>

#include "abi/event_ids.h"
#include "events/sources/name_source.h"
#include "events/sources/pmu_terms.h"
#include "events/sources/vendor_fields.h"
#include "events/sources/vendor_pmus.h"
#include "events/syntax/parse_error.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// One event for each PMU that has it: each kind of core, each instance of an uncore PMU.
Parsed<Match> on_pmus(const Machine::Data& machine, const Item& item) {
    Match match{{}, 1, true};
    ScratchMemory scratch;
    Terms terms{scratch.memory()};
    terms.push_back({item.parts[0], item.parts[0], {}});
    terms.insert(terms.end(), item.terms.begin(), item.terms.end());
    for (const host::Pmu& pmu : machine.pmus)
        if (vendor_alias(machine, pmu, item.parts[0]))
            TRY(resolve_pmu_terms(machine, pmu, terms, match.events.emplace_back()));
    match.distinct_names = match.events.size() > 1;
    return match;
}

/// Whether the list means the cores (empty), or one kind of core of a hybrid CPU. Without a PMU in sysfs their events
/// are raw events.
bool is_kind_of_core(std::string_view pmu) {
    return pmu.empty() || pmu == "cpu_core" || pmu == "cpu_atom";
}

/// An event of a PMU that this machine does not have.
Parsed<Event> without_pmu(const vendor::ListRow& list, const vendor::EventRow& row, std::string_view name) {
    const vendor::BoxRow& box = vendor::box_of(list, row);
    const std::string_view pmu = vendor::text(box.pmu);
    Event event = make_event(abi::kTypeRaw, 0);
    const std::string terms = vendor::terms_of(row);
    const auto applied = apply_known_fields(terms, vendor::text(box.fields), event.attr);
    if (!applied)
        return parse_error(name,
                           fmt::format("perf's list describes it as {} of the PMU {}, where {}", in_quotes(terms),
                                       pmu.empty() ? "cpu" : pmu, applied.error().cause),
                           "only a machine with that PMU can show its code");
    const host::Alias alias = vendor_alias_of(row, name);
    event.unit = alias.unit;
    event.scale = alias.scale;
    event.per_package = alias.per_package;
    if (is_kind_of_core(pmu)) {
        event.pmu = pmu;
        return event;
    }
    event.missing_pmu = pmu;
    event.cpu_wide_only = true;
    event.attr.flags = 0;  // PMUs outside of the cores refuse exclude_guest
    return event;
}

/// The events of the rows, whose PMUs this machine does not have. A row whose PMU has unknown fields is left out if
/// another row can be encoded. Otherwise the error says which field of the first row is unknown.
Parsed<Match> without_pmus(const vendor::ListRow& list, std::span<const vendor::EventRow> rows, std::string_view name) {
    Match match;
    std::optional<ParseError> first;
    for (const vendor::EventRow& row : rows) {
        auto event = without_pmu(list, row, name);
        if (event)
            match.events.push_back(*std::move(event));
        else if (!first)
            first = std::move(event).error();
    }
    if (match.events.empty() && first) return std::unexpected(*std::move(first));
    match.distinct_names = match.events.size() > 1;
    for (Event& event : match.events)
        if (match.distinct_names)
            event.name = fmt::format("{}/{}/", event.pmu.empty() ? event.missing_pmu : event.pmu, name);
    return match;
}

}  // namespace

Parsed<std::optional<Match>> from_vendor(const Machine::Data& machine, const Item& item) {
    const std::string_view name = item.parts[0];
    if (item.parts.size() > 2 && item.parts[1].empty()) return std::nullopt;  // PMU::EVENT of the catalog
    if (!vendor::is_event_name(name)) return std::nullopt;
    Match match = TRY(on_pmus(machine, item));
    if (!match.events.empty()) return match;
    const vendor::ListRow* list = machine.vendor_list();
    const auto rows = list == nullptr ? std::span<const vendor::EventRow>{} : vendor::find_events(*list, name);
    if (rows.empty()) return std::nullopt;
    return TRY(without_pmus(*list, rows, name));
}

}  // namespace anyperf::events
