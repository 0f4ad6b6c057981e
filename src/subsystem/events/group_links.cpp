// group_links.cpp: writes a group's members as a list into their pages, so that a thread can read or toggle its own
// group without a request. The world's own list (Event::siblings) decides; the pages are a copy that programs could
// change.
#include "subsystem/events/group_links.h"

namespace anyperf::subsystem {
namespace {

std::uint32_t size_of(const Event& leader) {
    return static_cast<std::uint32_t>(1 + leader.siblings.size());
}

/// Writes an event's place in its group to its page.
void link(World& world, Event& event, const Event* next) {
    LockedPage page(world, event);
    page->leader = event.leader->index;
    page->next_in_group = next ? next->index : 0;
    page->group_size = event.is_leader() ? size_of(event) : 1;
}

}  // namespace

// The new member's own link is written first: a thread that walks the list at this moment reaches its end either way.
void link_newest(World& world, Event& event) {
    link(world, event, nullptr);
    if (event.is_leader()) return;
    Event& leader = *event.leader;
    const std::size_t siblings = leader.siblings.size();
    Event& before = siblings < 2 ? leader : *leader.siblings[siblings - 2];
    LockedPage(world, before)->next_in_group = event.index;
    LockedPage(world, leader)->group_size = size_of(leader);
}

void link_all(World& world, Event& leader) {
    const std::vector<Event*> group = members(leader);
    for (std::size_t i = 0; i < group.size(); ++i)
        link(world, *group[i], i + 1 < group.size() ? group[i + 1] : nullptr);
}

}  // namespace anyperf::subsystem
