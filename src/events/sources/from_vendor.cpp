// from_vendor.cpp: the source of perf's own names of the CPU's events: "inst_retired.any", "ex_ret_instr". perf has
// them from the vendors' lists (src/events/vendor).
//
// perf treats them as events of the core PMU, so that terms can change them: "cpu/inst_retired.any,cmask=1/".
// pmu_terms.cpp does that. Without a core PMU in sysfs the event is a raw one, as for names of the catalog.
#include <fmt/format.h>

#include <algorithm>

#include "abi/event_ids.h"
#include "events/sources/name_source.h"
#include "events/sources/pmu_terms.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// Whether the event belongs to these cores: of a hybrid CPU, one of two kinds.
bool is_on(const vendor::EventRow& row, const host::Pmu& pmu) {
    return row.pmu == 0 || vendor::text(row.pmu) == pmu.name();
}

/// One event for each kind of core that has it.
Parsed<Match> on_core_pmus(const Machine::Data& machine, std::span<const vendor::EventRow> rows, const Item& item) {
    Match match{{}, 1, true};
    ScratchMemory scratch;
    Terms terms{scratch.memory()};
    terms.push_back({item.parts[0], item.parts[0], {}});
    terms.insert(terms.end(), item.terms.begin(), item.terms.end());
    for (const host::Pmu* pmu : machine.core_pmus())
        if (std::ranges::any_of(rows, [&](const vendor::EventRow& row) { return is_on(row, *pmu); }))
            TRY(resolve_pmu_terms(machine, *pmu, terms, match.events.emplace_back()));
    match.distinct_names = match.events.size() > 1;
    return match;
}

}  // namespace

std::optional<host::Alias> vendor_alias(const Machine::Data& machine, const host::Pmu& pmu, std::string_view name) {
    const vendor::ListRow* list = pmu.is_core() ? machine.vendor_list() : nullptr;
    if (list == nullptr) return std::nullopt;
    for (const vendor::EventRow& row : vendor::find_events(*list, name)) {
        if (!is_on(row, pmu)) continue;
        host::Alias alias;
        alias.name = name;
        alias.terms = fmt::format("config={:#x},config1={:#x}", row.config, row.config1);
        return alias;
    }
    return std::nullopt;
}

Parsed<std::optional<Match>> from_vendor(const Machine::Data& machine, const Item& item) {
    const vendor::ListRow* list = machine.vendor_list();
    if (list == nullptr || item.parts[0].empty()) return std::nullopt;
    if (item.parts.size() > 2 && item.parts[1].empty()) return std::nullopt;  // PMU::EVENT of the catalog
    const auto rows = vendor::find_events(*list, item.parts[0]);
    if (rows.empty()) return std::nullopt;
    if (!machine.core_pmus().empty()) {
        Match match = TRY(on_core_pmus(machine, rows, item));
        if (!match.events.empty()) return match;
    }
    Match match = make_match(abi::kTypeRaw, rows.front().config);
    match.events.front().attr.config1 = rows.front().config1;
    return match;
}

}  // namespace anyperf::events
