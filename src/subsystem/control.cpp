// control.cpp: a call changes requested states; the scheduler derives the states from them. Enabling and disabling
// leave out events whose task has ended. A reset does not: it clears their counts as well, as in the kernel.
#include "subsystem/control.h"

#include <unordered_set>

#include "subsystem/events/event_state.h"
#include "subsystem/events/group_lock.h"
#include "subsystem/output/header_page.h"
#include "subsystem/scheduling/scheduler.h"

namespace anyperf::subsystem {
namespace {

/// Calls `act` with the event and with each of its children.
template <class Do>
void with_children(Event& event, Do&& act) {
    act(event);
    for (Event* child : event.children) act(*child);
}

/// Sets the requested state, unless the event's task has ended. True if it was set, so that the group must be placed
/// anew.
bool set_requested_state(World& world, Event& event, EventState requested) {
    lock_group(world, event);
    sync_state_from_page(world, event);
    if (event.requested_state() <= EventState::exited) return false;
    event.page->requested_state = requested;
    return true;
}

// Two passes: all requested states are set before any group is placed. Otherwise the first group might take a counter
// that another one of the same call gives up.
void request_state(World& world, std::span<Event* const> events, EventState requested) {
    std::vector<Event*> leaders;
    std::unordered_set<Event*> seen;
    for (Event* event : events)
        with_children(*event, [&](Event& one) {
            if (set_requested_state(world, one, requested) && seen.insert(one.leader).second)
                leaders.push_back(one.leader);
        });
    for (Event* leader : leaders) place_group(world, *leader);
}

}  // namespace

void enable(World& world, std::span<Event* const> events) {
    request_state(world, events, EventState::inactive);
}

void enable_alone(World& world, Event& event) {
    if (set_requested_state(world, event, EventState::inactive)) place_group(world, *event.leader);
}

void disable(World& world, std::span<Event* const> events) {
    request_state(world, events, EventState::off);
}

// The count begins again at 0; the times do not (perf_event_open(2), PERF_EVENT_IOC_RESET). The counts of ended
// children stay, too, as in the kernel.
void reset(World& world, std::span<Event* const> events) {
    for (Event* event : events)
        with_children(*event, [&](Event& one) {
            sync_state_from_page(world, one);
            {
                LockedPage page(world, one);
                page->count = 0;
                page->start = value_now(world, one);
            }
            update_header(world, one);
        });
}

}  // namespace anyperf::subsystem
