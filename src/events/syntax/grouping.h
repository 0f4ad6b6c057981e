// grouping.h: which events form a group, so that the kernel schedules them together.
#pragma once

#include <span>
#include <vector>

#include "anyperf/event.h"
#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"

namespace anyperf::events {

/// An item and the events it became. The item must outlive it.
struct ResolvedItem {
    const Item* item;
    std::vector<Event> events;
};

/// Appends the groups of `text` to `groups`. Without braces each event is a group. In braces, if items became several
/// events, one for each PMU, there is a group for each of these PMUs; events that are not tied to a PMU join the first
/// group. Moves the events out of `items`. Fails if events of different PMUs are in one group, or if an event other
/// than the leader is pinned or exclusive.
Parsed<> add_groups(const GroupText& text, std::span<ResolvedItem> items, std::vector<EventGroup>& groups);

}  // namespace anyperf::events
