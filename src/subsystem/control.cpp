#include "subsystem/control.h"

#include <unordered_set>

#include "subsystem/event_state.h"
#include "subsystem/group_hold.h"
#include "subsystem/header_page.h"
#include "subsystem/scheduler.h"

namespace anyperf::subsystem {
namespace {

/// The event and its children.
template <class Do>
void with_children(Event& event, Do&& act) {
    act(event);
    for (Event* child : event.children) act(*child);
}

/// Whether its group is to be placed anew.
bool take_wish(World& world, Event& event, EventState wish) {
    hold(world, event);
    notice_switched(world, event);
    if (event.own() <= EventState::exited) return false;
    event.page->own = wish;  // an error ends with it (perf_event_open(2), `pinned`)
    return true;
}

void set_wish(World& world, std::span<Event* const> events, EventState wish) {
    std::vector<Event*> leaders;
    std::unordered_set<Event*> seen;
    for (Event* event : events)
        with_children(*event, [&](Event& one) {
            if (take_wish(world, one, wish) && seen.insert(one.leader).second) leaders.push_back(one.leader);
        });
    for (Event* leader : leaders) place_group(world, *leader);
}

}  // namespace

void enable(World& world, std::span<Event* const> events) {
    set_wish(world, events, EventState::inactive);
}

void enable_alone(World& world, Event& event) {
    if (take_wish(world, event, EventState::inactive)) place_group(world, *event.leader);
}

void disable(World& world, std::span<Event* const> events) {
    set_wish(world, events, EventState::off);
}

void reset(World& world, std::span<Event* const> events) {
    for (Event* event : events)
        with_children(*event, [&](Event& one) {
            notice_switched(world, one);
            {
                Locked page(world, one);
                page->count = 0;
                page->start = value_now(world, one);
            }
            update_header(world, one);
        });
}

}  // namespace anyperf::subsystem
