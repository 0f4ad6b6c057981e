// modifiers.h: the modifiers of an event, the letters after its last colon ("cycles:ukp"), as one table.
//
// Letters are applied from left to right. How they combine:
// - u, k, h: the first of them excludes all three levels; each then includes its own. So "u" counts user mode only,
//   "uk" user and kernel mode.
// - G, H: likewise for guests and host. u and p exclude guests if neither G nor H came before.
// - Modifiers of an item replace the default (exclude_guest). Modifiers of a group are added to those of its events: a
//   level is excluded only if the event itself had no level modifier.
// - p may be repeated: each p raises precise_ip by one, up to 3.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "anyperf/event.h"
#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// An event while its modifiers are applied.
struct ModifierTarget {
    Event& event;
    bool levels;  ///< u, k or h was seen: the levels that are not named are excluded
    bool hosts;   ///< G or H was seen: the other one is excluded
};

struct ModifierRow {
    char letter;
    int max_repeats;  ///< how often it may occur in one list
    std::string_view meaning;
    void (*apply)(ModifierTarget&);
};

/// All modifiers, in the order in which messages and docs list them.
std::span<const ModifierRow> modifier_rows();

/// Whether every letter is a modifier and none occurs too often. False for the empty text.
bool are_modifiers(std::string_view letters);

/// The event's name with the modifier u, for events that anyperf has restricted to user mode. perf, too, shows the
/// modifier that it adds. "cycles" becomes "cycles:u", "cycles:p" becomes "cycles:pu", "cpu/cycles/" becomes
/// "cpu/cycles/u".
std::string user_mode_name(const Event& event);

/// Applies the modifiers of the event itself. They replace the default exclusions, as in perf. `letters` must satisfy
/// are_modifiers().
void apply_modifiers(Event& event, std::string_view letters);

/// Applies the modifiers of the group, in addition to those of the event. `letters` must satisfy are_modifiers(). If
/// `leads` is false, pinned and exclusive are cleared: only the leader has them, the other events follow it.
void apply_group_modifiers(Event& event, std::string_view letters, bool leads);

}  // namespace anyperf::events
