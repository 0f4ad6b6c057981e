// find_event.cpp: looks up the events of a PMU by name and by private index (request.h). A PMU has one or more ranges
// of events; events that this model lacks are skipped.
#include "events/catalog/encoding/request.h"

namespace anyperf::catalog {

namespace {

/// The events that a machine adds, its systems of tracepoints, have no hash table; there are about a hundred.
Found find_in_machine(const EventRange& range, std::string_view name) {
    for (std::uint32_t i = 0; i < range.count; ++i)
        if (same_name(name_of(range.first[i]), name)) return {&range.first[i], range.base + i};
    return {};
}

Found find_in(const EventRange& range, const PmuRow& pmu, std::string_view name, std::uint32_t hash) {
    if (range.table == EventRange::kNoTable) return find_in_machine(range, name);
    Found found;
    const TableRow& table = tables()[range.table];
    const EventRow* const first = events(table).data();
    visit_named(table, name, hash, [&](std::uint32_t position) {
        const EventRow& event = first[position];
        const std::ptrdiff_t in_range = &event - range.first;
        if (in_range < 0 || in_range >= std::ptrdiff_t{range.count} || !model_has(pmu, event)) return false;
        found = {&event, range.base + static_cast<std::uint32_t>(in_range)};
        return true;
    });
    return found;
}

Found find_in(const EventRanges& ranges, const PmuRow& pmu, std::string_view name, std::uint32_t hash) {
    Found found;
    for (const EventRange& range : ranges)
        if (found = find_in(range, pmu, name, hash); found.event != nullptr) break;
    return found;
}

}  // namespace

// Tracepoints are a range of their own that is only read when a name is in no other: a machine has some two thousand.
Found find_event(const MachinePmus& machine, const PmuRow& pmu, std::string_view name, std::uint32_t hash) {
    const Found found = find_in(machine.first_events_of(pmu), pmu, name, hash);
    if (found.event != nullptr || !machine.has_tracepoints(pmu)) return found;
    return find_in(machine.events_of(pmu), pmu, name, hash);
}

// An index below `range.base` wraps around to a huge number, so one comparison checks both ends.
const EventRow* event_at(const MachinePmus& machine, const PmuRow& pmu, std::uint32_t private_index) {
    for (const EventRange& range : machine.events_of(pmu)) {
        if (private_index - range.base >= range.count) continue;
        const EventRow& event = range.first[private_index - range.base];
        return model_has(pmu, event) ? &event : nullptr;
    }
    return nullptr;
}

int next_event(const MachinePmus& machine, const PmuRow& pmu, int after) {
    for (const EventRange& range : machine.events_of(pmu)) {
        const int end = static_cast<int>(range.base + range.count);
        for (int index = std::max(after + 1, static_cast<int>(range.base)); index < end; ++index)
            if (model_has(pmu, range.first[static_cast<std::uint32_t>(index) - range.base])) return index;
    }
    return -1;
}

}  // namespace anyperf::catalog
