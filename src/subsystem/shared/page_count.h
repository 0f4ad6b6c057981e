// page_count.h: an event's count and times as its page tells them at a moment, and how they are kept over a change of
// state. The caller holds the page's lock, and gives the values of the event's source and of its clock at the moment.
// Freestanding.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::subsystem {

inline bool counts_itself(const EventPage& page) {
    return page.source.kind != Source::Kind::happenings && page.source.kind != Source::Kind::nothing;
}

inline std::uint64_t count_at(const EventPage& page, std::uint64_t value) {
    const bool growing = page.state == EventState::active && counts_itself(page);
    return growing ? page.count + (value - page.start) : page.count;
}

inline std::uint64_t enabled_at(const EventPage& page, std::uint64_t clock) {
    return page.state >= EventState::inactive ? page.enabled + (clock - page.time_start) : page.enabled;
}

inline std::uint64_t running_at(const EventPage& page, std::uint64_t clock) {
    return page.state == EventState::active ? page.running + (clock - page.time_start) : page.running;
}

/// What is left of the current period.
inline std::uint64_t period_left_at(const EventPage& page, std::uint64_t value) {
    if (page.state != EventState::active || !counts_itself(page)) return page.period_left;
    return page.overflow_at > value ? page.overflow_at - value : 0;
}

/// Keeps what has been counted so far and goes on from here, in this state.
inline void change_state(EventPage& page, EventState state, std::uint64_t value, std::uint64_t clock) {
    page.period_left = period_left_at(page, value);
    page.count = count_at(page, value);
    page.enabled = enabled_at(page, clock);
    page.running = running_at(page, clock);
    page.start = value;
    page.time_start = clock;
    if (state == EventState::active && page.state != EventState::active) resume_period(page);
    page.state = state;
    if (state == EventState::active) page.overflow_at = value + page.period_left;
    // Another thread's instructions may be what it is paced by from here on (resident/sampling.cpp).
    if (page.source.kind == Source::Kind::counters) page.last_overflow_time = 0;
}

}  // namespace anyperf::subsystem
