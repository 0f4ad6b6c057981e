// find_event.cpp: events of a PMU by name and by private index. See request.h.
#include "events/catalog/request.h"

namespace anyperf::catalog {

Found find_event(const Machine& machine, const PmuRow& pmu, std::string_view name, std::uint32_t hash) {
    Found found;
    for (const Segment& segment : machine.events_of(pmu)) {
        const TableRow& table = tables()[segment.table];
        visit_named(table, name, hash, [&](std::uint32_t position) {
            const std::uint32_t index = table.first_event + position;
            if (index < segment.first || index - segment.first >= segment.count) return false;
            if (!visible(pmu, events()[index])) return false;
            found = {&events()[index], segment.base + (index - segment.first)};
            return true;
        });
        if (found.event != nullptr) break;
    }
    return found;
}

const EventRow* event_at(const Machine& machine, const PmuRow& pmu, std::uint32_t private_index) {
    for (const Segment& segment : machine.events_of(pmu)) {
        if (private_index - segment.base >= segment.count) continue;
        const EventRow& event = events()[segment.first + (private_index - segment.base)];
        return visible(pmu, event) ? &event : nullptr;
    }
    return nullptr;
}

int next_event(const Machine& machine, const PmuRow& pmu, int after) {
    for (const Segment& segment : machine.events_of(pmu)) {
        const int end = static_cast<int>(segment.base + segment.count);
        for (int index = std::max(after + 1, static_cast<int>(segment.base)); index < end; ++index)
            if (visible(pmu, events()[segment.first + (static_cast<std::uint32_t>(index) - segment.base)]))
                return index;
    }
    return -1;
}

}  // namespace anyperf::catalog
