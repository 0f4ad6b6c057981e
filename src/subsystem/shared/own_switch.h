// own_switch.h: PERF_EVENT_IOC_ENABLE, DISABLE and RESET, done by the thread that the event counts, without its host:
// where every event of the group counts this thread alone, by what the thread itself keeps, and none can be in another
// group's way (EventPage::switchable). A switch there changes a few pages, and the host finds it there when it next
// looks: it keeps no copy of what an event was told to be. What is done is what the subsystem's control.cpp and
// scheduler.cpp do with such a group; a test holds the two against each other.
//
// The leader's `group` lock is held throughout, so that the host changes neither the group nor what it was told
// meanwhile. Freestanding, as event_page.h.
#pragma once

#include <concepts>
#include <cstdint>

#include "subsystem/shared/event_page.h"
#include "subsystem/shared/page_count.h"

namespace anyperf::subsystem {

/// Whether a thread knows the source's value itself, and nobody has to do anything for it to grow.
constexpr bool tells_itself(const Source& source) {
    switch (source.kind) {
        case Source::Kind::nothing:
        case Source::Kind::counters:
        case Source::Kind::task_clock:
        case Source::Kind::page_faults:
        case Source::Kind::minor_faults:
        case Source::Kind::major_faults: return true;
        default: return false;
    }
}

/// What a member that was told `own` is, where its leader has become `leader`.
constexpr EventState state_under(EventState own, EventState leader) {
    if (own < EventState::inactive) return own;
    // Without its leader it does not even wait: its time enabled stands still.
    return leader >= EventState::inactive ? leader : EventState::off;
}

/// The thread that switches, as the functions below see it.
template <class T>
concept Switcher = requires(T self, EventIndex index, PageLock& lock, EventPage& page, const Source& source) {
    { self.page(index) } -> std::same_as<EventPage*>;  ///< null where there can be none
    { self.counts_me(page) } -> std::same_as<bool>;    ///< the page is of an event of this thread
    { self.value(source) } -> std::same_as<std::uint64_t>;
    { self.clock() } -> std::same_as<std::uint64_t>;
    self.publish(page);  ///< to its ring's header page, if it has one. No lock is held but `group`
    typename T::Held;    ///< holds a PageLock for a scope, made from self and the lock
};

/// Calls `each` with the leader and then its siblings, until it says false; whether it never did. False as well where
/// the list does not lead through the group.
template <Switcher Self, class Each>
bool for_group(Self& self, EventIndex leader, Each each) {
    EventIndex index = leader;
    const std::uint32_t size = self.page(leader)->group_size;
    for (std::uint32_t i = 0; i < size; ++i) {
        EventPage* const member = index != 0 ? self.page(index) : nullptr;
        if (member == nullptr || member->leader != leader || !each(*member)) return false;
        index = member->next_in_group;
    }
    return true;
}

/// Nobody but the thread has a say in it, or knows more of it. The group is held.
template <Switcher Self>
bool is_mine(Self& self, EventPage& page) {
    return self.counts_me(page) && page.switchable != 0 && page.has_children == 0 && page.own >= EventState::off &&
           tells_itself(page.source);
}

/// Calls `act` with the event and its leader, the group held and all of it the thread's own; what that says. False as
/// well where it is not: nothing has been done, and the host is to be asked.
template <Switcher Self, class Act>
bool with_own_group(Self& self, EventIndex index, Act act) {
    EventPage& event = *self.page(index);
    const EventIndex first = event.leader;
    EventPage* const leader = first != 0 ? self.page(first) : nullptr;
    if (leader == nullptr) return false;
    const typename Self::Held held(self, leader->group);
    return event.leader == first && for_group(self, first, [&](EventPage& page) { return is_mine(self, page); }) &&
           act(event, *leader);
}

/// ENABLE (`wish` inactive) or DISABLE (off) of the event, or of its whole group. False: the host is to be asked.
template <Switcher Self>
bool switch_own(Self& self, EventIndex index, EventState wish, bool whole_group) {
    return with_own_group(self, index, [&](EventPage& event, const EventPage& leader) {
        for_group(self, event.leader, [&](EventPage& page) {
            if (whole_group || &page == &event) page.own = wish;
            return true;
        });
        const std::uint64_t clock = self.clock();
        const EventState of_leader = state_under(leader.own, EventState::active);
        return for_group(self, event.leader, [&](EventPage& page) {
            const EventState state = state_under(page.own, of_leader);
            if (page.state == state) return true;
            {
                const typename Self::Held page_held(self, page.lock);
                change_state(page, state, self.value(page.source), clock);
            }
            if (state == EventState::active) self.publish(page);
            return true;
        });
    });
}

/// RESET, likewise.
template <Switcher Self>
bool reset_own(Self& self, EventIndex index, bool whole_group) {
    return with_own_group(self, index, [&](EventPage& event, const EventPage&) {
        return for_group(self, event.leader, [&](EventPage& page) {
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
