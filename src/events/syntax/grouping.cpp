// grouping.cpp: from items as typed to groups as opened. One item may mean several events: a core event on a hybrid
// machine (one for each kind of core), an uncore event (one for each instance of the box). The kernel schedules a group
// on one PMU, so braces around such items make several groups, one for each PMU, and each PMU's event of an item goes
// to the group of that PMU. This is possible only if all tied items are on the same PMUs in the same order
// (check_pmus()).
#include "events/syntax/grouping.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "events/suggest/unknown_name.h"
#include "events/syntax/modifiers.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// Whether the event can be grouped only with events of its own PMU: uncore events, and core events on a hybrid
/// machine. Any other event (software, tracepoint, msr, the only core PMU) may share a group with these.
bool is_bound(const Event& event) {
    return event.cpu_wide_only || !event.cpus.empty();
}

/// The first item that is tied to PMUs; every other such item must have the same PMUs. nullptr if no item is tied.
const ResolvedItem* first_bound(std::span<const ResolvedItem> items) {
    const auto found =
        std::ranges::find_if(items, [](const ResolvedItem& item) { return is_bound(item.events.front()); });
    return found == items.end() ? nullptr : &*found;
}

/// Whether the events of two items are on the same PMUs, in the same order.
bool same_pmus(const ResolvedItem& a, const ResolvedItem& b) {
    return std::ranges::equal(a.events, b.events, {}, &Event::pmu, &Event::pmu);
}

/// All tied items must be counted by the same PMUs: the kernel schedules a group on one PMU.
Parsed<> check_pmus(std::span<const ResolvedItem> items, const ResolvedItem& bound) {
    for (const ResolvedItem& item : items)
        if (is_bound(item.events.front()) && !same_pmus(item, bound))
            return parse_error(item.item->text,
                               "it is counted by " + item.events.front().pmu + ", others of the group by " +
                                   bound.events.front().pmu + "; the kernel schedules a group on one PMU",
                               "write it outside the braces");
    return {};
}

/// Applies the modifiers of the group to each of its events.
void apply(const GroupText& text, EventGroup& group) {
    if (text.modifiers.empty()) return;
    for (Event& event : group.events) apply_group_modifiers(event, text.modifiers, &event == &group.events.front());
}

/// Only the leader may be pinned or exclusive; the kernel answers EINVAL for siblings, which follow the leader. It is
/// checked here, where the message can say what to write, instead of when the group is opened.
Parsed<> check_siblings(std::span<const ResolvedItem> items) {
    constexpr std::uint64_t kLeadersOnly = abi::flag("pinned") | abi::flag("exclusive");
    // The events of a first item that is tied to PMUs lead a group each; those of a pattern are one group.
    const bool first_has_siblings = items.front().events.size() > 1 && !is_bound(items.front().events.front());
    for (std::size_t i = first_has_siblings ? 0 : 1; i < items.size(); ++i)
        if (items[i].events.front().attr.flags & kLeadersOnly)
            return parse_error(items[i].item->text,
                               "only the first event of a group can be pinned (D) or exclusive (e)",
                               "write the modifier after the group: {…}:D");
    return {};
}

/// Each event is a group. The vector of a single event becomes the group, so the event itself is not moved.
void add_single(std::span<ResolvedItem> items, std::vector<EventGroup>& groups) {
    for (ResolvedItem& item : items) {
        if (item.events.size() == 1) {
            groups.emplace_back().events = std::move(item.events);
            continue;
        }
        for (Event& event : item.events) groups.emplace_back().events.push_back(std::move(event));
    }
}

/// Appends `count` groups. Events of tied items go to the group of their PMU, others to the first group.
void add_by_pmu(const GroupText& text, std::span<ResolvedItem> items, std::size_t count,
                std::vector<EventGroup>& groups) {
    const std::size_t first = groups.size();
    groups.resize(first + count);
    for (EventGroup& group : std::span{groups}.subspan(first)) {
        group.name = std::string{text.name};
        group.braces = true;
        group.weak = text.modifiers.contains('W');
        group.events.reserve(items.size());
    }
    for (ResolvedItem& item : items) {
        const bool bound = is_bound(item.events.front());
        for (std::size_t i = 0; i < item.events.size(); ++i)
            groups[first + (bound ? i : 0)].events.push_back(std::move(item.events[i]));
    }
}

}  // namespace

Parsed<> add_groups(const GroupText& text, std::span<ResolvedItem> items, std::vector<EventGroup>& groups) {
    if (!text.braces) {
        add_single(items, groups);
        return {};
    }
    if (!text.modifiers.empty() && !are_modifiers(text.modifiers)) return unknown_modifiers(text.modifiers);
    TRY(check_siblings(items));
    const ResolvedItem* bound = first_bound(items);
    if (bound) TRY(check_pmus(items, *bound));
    const std::size_t first = groups.size();
    add_by_pmu(text, items, bound ? bound->events.size() : 1, groups);
    for (EventGroup& group : std::span{groups}.subspan(first)) apply(text, group);
    return {};
}

}  // namespace anyperf::events
