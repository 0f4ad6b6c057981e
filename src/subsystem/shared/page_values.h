// page_values.h: the count and times of an event at a moment, computed from its page, and their update at a change of
// state. The caller holds the page's lock and passes the values of the event's source and clock at that moment.
// Freestanding, as event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::subsystem {

/// False for sources without a value: nothing, and occurrences, whose count is in the page.
inline bool has_value(const Source& source) {
    return source.kind != Source::Kind::occurrences && source.kind != Source::Kind::nothing;
}
inline bool has_source_value(const EventPage& page) {
    return has_value(page.source);
}

/// The count at this value of the event's source.
inline std::uint64_t count_at(const EventPage& page, std::uint64_t value) {
    const bool growing = page.state == EventState::counting && has_source_value(page);
    return growing ? page.count + (value - page.start) : page.count;
}

/// What the count of an event that counts is ahead of the value of its source, modulo 2^64.
inline std::uint64_t offset_of_source(const EventPage& page) {
    return page.count - page.start;
}

/// total_time_enabled at this time of its clock, ns.
inline std::uint64_t enabled_at(const EventPage& page, std::uint64_t clock) {
    return page.state >= EventState::inactive ? page.enabled + (clock - page.time_start) : page.enabled;
}

/// total_time_running at this time of its clock, ns.
inline std::uint64_t running_at(const EventPage& page, std::uint64_t clock) {
    return page.state == EventState::counting ? page.running + (clock - page.time_start) : page.running;
}

/// What is left of the current period, in the source's unit.
inline std::uint64_t period_left_at(const EventPage& page, std::uint64_t value) {
    if (page.state != EventState::counting || !has_source_value(page)) return page.period_left;
    return page.overflow_at > value ? page.overflow_at - value : 0;
}

/// Brings count, times and period up to this moment, and puts the event into the new state. What is left of a period
/// when the event stops counting goes on when it counts again.
inline void change_state(EventPage& page, EventState state, std::uint64_t value, std::uint64_t clock) {
    page.period_left = period_left_at(page, value);
    page.count = count_at(page, value);
    page.enabled = enabled_at(page, clock);
    page.running = running_at(page, clock);
    page.start = value;
    page.time_start = clock;
    if (state == EventState::counting && page.state != EventState::counting) resume_period(page);
    page.state = state;
    if (state == EventState::counting) page.overflow_at = value + page.period_left;
    // The time for which a counter does not count must not enter into the adaptation of its period (overflow.cpp).
    if (page.source.kind == Source::Kind::counters) page.last_overflow_time = 0;
}

}  // namespace anyperf::subsystem
