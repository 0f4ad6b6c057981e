// grouping.h: which events are scheduled together.
#pragma once

#include <span>
#include <vector>

#include "anyperf/event.h"
#include "events/fault.h"
#include "events/tokens.h"

namespace anyperf::events {

/// An item and what it became. The item must outlive it.
struct Resolved {
    const Item* item;
    std::vector<Event> events;
};

/// Without braces each event is a group. In braces items that became several events, one for each PMU, make a group
/// for each of these PMUs; those of the kernel that need no PMU join the first. The events are moved out of `items`.
Parsed<> add_groups(const GroupText& text, std::span<Resolved> items, std::vector<EventGroup>& groups);

}  // namespace anyperf::events
