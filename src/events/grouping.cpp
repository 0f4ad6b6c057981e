// grouping.cpp: see grouping.h.
#include "events/grouping.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "events/modifiers.h"
#include "events/unknown.h"

namespace anyperf::events {

namespace {

/// Events that must be with others of their own PMU: uncore events, and core events on a hybrid machine. What else
/// there is (software, tracepoints, msr, the one core PMU) may share a group.
bool is_bound(const Event& event) {
    return event.cpu_wide_only || !event.cpus.empty();
}

/// The PMUs that each bound item must have, in order; nullptr where no item is bound.
const Resolved* first_bound(std::span<const Resolved> items) {
    const auto found = std::ranges::find_if(items, [](const Resolved& item) { return is_bound(item.events.front()); });
    return found == items.end() ? nullptr : &*found;
}

bool same_pmus(const Resolved& a, const Resolved& b) {
    return std::ranges::equal(a.events, b.events, {}, &Event::pmu, &Event::pmu);
}

Parsed<> check_pmus(std::span<const Resolved> items, const Resolved& bound) {
    for (const Resolved& item : items)
        if (is_bound(item.events.front()) && !same_pmus(item, bound))
            return fault(item.item->text,
                         "it is counted by " + item.events.front().pmu + ", others of the group by " +
                             bound.events.front().pmu + "; the kernel schedules a group on one PMU",
                         "write it outside the braces");
    return {};
}

void apply(const GroupText& text, EventGroup& group) {
    if (text.modifiers.empty()) return;
    for (Event& event : group.events) apply_group_modifiers(event, text.modifiers, &event == &group.events.front());
}

/// A sibling follows its leader onto the counters: the kernel refuses one that is pinned or exclusive with EINVAL.
Parsed<> check_siblings(std::span<const Resolved> items) {
    constexpr std::uint64_t kLeadersOnly = abi::flag("pinned") | abi::flag("exclusive");
    for (std::size_t i = 1; i < items.size(); ++i)
        if (items[i].events.front().attr.flags & kLeadersOnly)
            return fault(items[i].item->text, "only the first event of a group can be pinned (D) or exclusive (e)",
                         "write the modifier behind the group: {…}:D");
    return {};
}

/// An item of one event is the group that it makes; nothing is moved then but the vector.
void add_single(std::span<Resolved> items, std::vector<EventGroup>& groups) {
    for (Resolved& item : items) {
        if (item.events.size() == 1) {
            groups.emplace_back().events = std::move(item.events);
            continue;
        }
        for (Event& event : item.events) groups.emplace_back().events.push_back(std::move(event));
    }
}

/// Groups of these items, `count` of them, behind the others.
void add_by_pmu(const GroupText& text, std::span<Resolved> items, std::size_t count, std::vector<EventGroup>& groups) {
    const std::size_t first = groups.size();
    groups.resize(first + count);
    for (EventGroup& group : std::span{groups}.subspan(first)) {
        group.name = std::string{text.name};
        group.braces = true;
        group.weak = text.modifiers.contains('W');
        group.events.reserve(items.size());
    }
    for (Resolved& item : items) {
        const bool bound = is_bound(item.events.front());
        for (std::size_t i = 0; i < item.events.size(); ++i)
            groups[first + (bound ? i : 0)].events.push_back(std::move(item.events[i]));
    }
}

}  // namespace

Parsed<> add_groups(const GroupText& text, std::span<Resolved> items, std::vector<EventGroup>& groups) {
    if (!text.braces) {
        add_single(items, groups);
        return {};
    }
    if (!text.modifiers.empty() && !are_modifiers(text.modifiers)) return unknown_modifiers(text.modifiers);
    TRY(check_siblings(items));
    const Resolved* bound = first_bound(items);
    if (bound) TRY(check_pmus(items, *bound));
    const std::size_t first = groups.size();
    add_by_pmu(text, items, bound ? bound->events.size() : 1, groups);
    for (EventGroup& group : std::span{groups}.subspan(first)) apply(text, group);
    return {};
}

}  // namespace anyperf::events
