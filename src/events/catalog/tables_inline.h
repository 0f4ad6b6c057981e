// tables_inline.h: the function templates of tables.h. Only tables.h includes it.
#pragma once

#include "events/catalog/text.h"

namespace anyperf::catalog {

/// The hash table of the events of `table`. A slot is the position of an event in the table plus 1, or 0 if it is free.
std::span<const std::uint16_t> event_slots(const TableRow& table);

template <class Visit>
bool visit_named(const TableRow& table, std::string_view name, std::uint32_t hash, Visit&& visit) {
    const auto slots = event_slots(table);
    const auto named = events(table);
    // Linear probing: all events of one name come before the first free slot, in table order.
    for (std::uint32_t at = hash & (table.slots - 1); slots[at] != 0; at = (at + 1) & (table.slots - 1)) {
        const std::uint32_t position = slots[at] - 1U;
        if (same_name(name_of(named[position]), name) && visit(position)) return true;
    }
    return false;
}

}  // namespace anyperf::catalog
