// local_toggle.h: local toggles: a thread enables, disables and resets a group of its own events in their pages,
// without a request to the host (PERF_EVENT_IOC_ENABLE, DISABLE, RESET).
//
// Conditions (EventPage::may_toggle_locally and is_local()): every member counts this thread only, by values that the
// thread keeps itself; no PMU must be informed; no group of the task competes for counters; no member has children.
// Then a toggle changes a few pages and nothing else. The host reads the pages when it next acts on the group, and has
// no copy that could be stale.
//
// The thread holds the leader's group_lock throughout, so the host cannot change the group or its requested states in
// between (group_lock.h). The effect is that of control.cpp and scheduler.cpp on such a group; a unit test compares
// them. Freestanding, as event_page.h.
#pragma once

#include <concepts>
#include <cstdint>

#include "subsystem/shared/event_page.h"
#include "subsystem/shared/page_values.h"

namespace anyperf::subsystem {

/// Whether a thread knows the source's value without a request, and the value grows without anything being done for the
/// event.
constexpr bool is_known_to_thread(const Source& source) {
    switch (source.kind) {
        case Source::Kind::nothing:
        case Source::Kind::counters:
        case Source::Kind::task_clock:
        case Source::Kind::page_faults:
        case Source::Kind::minor_faults:
        case Source::Kind::major_faults:
        case Source::Kind::context_switches: return true;
        default: return false;
    }
}

/// The state of a group's member, from what was requested of it and from its leader's state.
constexpr EventState state_under(EventState own, EventState leader) {
    if (own < EventState::inactive) return own;
    // Under a leader that is off a member is not even inactive: its time enabled does not grow.
    return leader >= EventState::inactive ? leader : EventState::off;
}

/// What the functions below need from the thread that toggles.
template <class T>
concept ThreadAccess = requires(T self, EventIndex index, PageLock& lock, EventPage& page, const Source& source) {
    { self.page(index) } -> std::same_as<EventPage*>;         ///< null: no page has this number
    { self.counts_this_thread(page) } -> std::same_as<bool>;  ///< the page's event counts this thread
    { self.value(source) } -> std::same_as<std::uint64_t>;
    { self.clock() } -> std::same_as<std::uint64_t>;
    self.publish(page);  ///< copies the count to its ring's header page, if it has one; called with `group_lock` only
    typename T::Held;    ///< made from the thread and a PageLock, which it locks for a scope; false: not locked
};

/// The largest group whose links a thread follows. No group with PERF_FORMAT_GROUP is larger: reading it takes 16 KiB
/// at most (perf_event_validate_size()), 8 bytes each. Calls on a larger one go to the host.
inline constexpr std::uint32_t kMostMembers = 2048;

/// Calls `each` with the leader and its siblings until it returns false. False as well if the group is too large, or if
/// the links do not form a group: they are in shared memory, and may be changing if the group is not locked.
template <ThreadAccess Self, class Each>
bool for_each_member(Self& self, EventIndex leader, Each each) {
    EventIndex index = leader;
    const std::uint32_t size = self.page(leader)->group_size;
    if (size > kMostMembers) return false;
    for (std::uint32_t i = 0; i < size; ++i) {
        EventPage* const member = index != 0 ? self.page(index) : nullptr;
        if (member == nullptr || member->leader != leader || !each(*member)) return false;
        index = member->next_in_group;
    }
    return true;
}

/// Whether this event meets the conditions above. The group is locked.
template <ThreadAccess Self>
bool is_local(Self& self, EventPage& page) {
    return self.counts_this_thread(page) && page.may_toggle_locally != 0 && page.has_children == 0 &&
           page.requested_state >= EventState::off && is_known_to_thread(page.source);
}

/// Locks the event's group and calls `act(event, leader)` if all members meet the conditions. Returns what `act`
/// returns. False without any change if a member does not meet them or the lock can't be had: then the host must be
/// asked.
template <ThreadAccess Self, class Act>
bool with_local_group(Self& self, EventIndex index, Act act) {
    EventPage& event = *self.page(index);
    const EventIndex first = event.leader;
    EventPage* const leader = first != 0 ? self.page(first) : nullptr;
    if (leader == nullptr) return false;
    const typename Self::Held held(self, leader->group_lock);
    return held && event.leader == first &&
           for_each_member(self, first, [&](EventPage& page) { return is_local(self, page); }) && act(event, *leader);
}

/// ENABLE (`requested` is inactive) or DISABLE (off), of the event or of its whole group. False: ask the host.
template <ThreadAccess Self>
bool toggle_locally(Self& self, EventIndex index, EventState requested, bool whole_group) {
    return with_local_group(self, index, [&](EventPage& event, const EventPage& leader) {
        for_each_member(self, event.leader, [&](EventPage& page) {
            if (whole_group || &page == &event) page.requested_state = requested;
            return true;
        });
        const std::uint64_t clock = self.clock();
        const EventState of_leader = state_under(leader.requested_state, EventState::counting);
        return for_each_member(self, event.leader, [&](EventPage& page) {
            const EventState state = state_under(page.requested_state, of_leader);
            if (page.state == state) return true;
            {
                const typename Self::Held page_held(self, page.lock);
                change_state(page, state, self.value(page.source), clock);
            }
            // As x86_pmu_del() of Linux: rdpmc has no index for an event that is off.
            if (state == EventState::counting || page.source.kind == Source::Kind::counters) self.publish(page);
            return true;
        });
    });
}

/// RESET of the event or of its whole group. False: ask the host.
template <ThreadAccess Self>
bool reset_locally(Self& self, EventIndex index, bool whole_group) {
    return with_local_group(self, index, [&](EventPage& event, const EventPage&) {
        return for_each_member(self, event.leader, [&](EventPage& page) {
            if (!whole_group && &page != &event) return true;
            {
                const typename Self::Held page_held(self, page.lock);
                page.count = 0;
                page.start = self.value(page.source);
            }
            self.publish(page);
            return true;
        });
    });
}

}  // namespace anyperf::subsystem
