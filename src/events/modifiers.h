// modifiers.h: the letters behind an event's last colon ("cycles:ukp"), as one table.
#pragma once

#include <span>
#include <string_view>

#include "anyperf/event.h"
#include "events/fault.h"

namespace anyperf::events {

/// One event while its letters are applied from left to right.
struct Modified {
    Event& event;
    bool levels;  ///< u, k or h was seen: what is not named is excluded
    bool hosts;   ///< G or H was seen
};

struct ModifierRow {
    char letter;
    int most;  ///< how often it may stand in one list
    std::string_view meaning;
    void (*apply)(Modified&);
};

std::span<const ModifierRow> modifier_rows();

/// Every letter is a modifier, none too often. Not for the empty text.
bool are_modifiers(std::string_view letters);

/// The modifiers of the event itself. What is excluded by default is void then, as in perf: letters say all of it.
/// Precondition: are_modifiers().
void apply_modifiers(Event& event, std::string_view letters);

/// The modifiers of its group, on top of its own. Precondition: are_modifiers(). `leads`: only the leader is pinned or
/// exclusive, the others follow it.
void apply_group_modifiers(Event& event, std::string_view letters, bool leads);

}  // namespace anyperf::events
