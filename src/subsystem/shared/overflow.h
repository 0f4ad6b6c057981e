// overflow.h: what happens to an event when a period ends: where the next one ends, what is to be written and who is to
// be told. Three families end their periods differently, as in Linux 6.18:
//
//   - counters (the cpu PMU): as x86_perf_event_set_period(). What the source is beyond the end belongs to the next
//     period; a new period set by IOC_PERIOD begins at once.
//   - clocks: as perf_swevent_hrtimer(). At most a sample every 10,000 ns; ends that were missed are skipped; only
//     they are throttled, since a counter that runs in user space holds no machine up.
//   - software kinds (faults, switches, tracepoints, breakpoints, uprobes): as perf_swevent_event(). One overflow for
//     each end. IOC_PERIOD makes the very next event overflow, as the first of a period of the old length; the new
//     length follows that, or begins when the event becomes active again. A fixed period with PERF_SAMPLE_PERIOD makes
//     every event a sample of period 1.
//
// The end is EventPage::overflow_at, of the source's values, for events that have one; those that are made to happen
// (Source::happenings) count EventPage::period_left down. The caller holds the event's lock. Freestanding.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

/// HZ of 250, which the advertised perf_event_mux_interval_ms of 4 fits to.
inline constexpr std::uint64_t kTickNs = 4'000'000;
inline constexpr std::uint64_t kShortestClockPeriodNs = 10'000;

struct Overflow {
    bool sample = false;      ///< a SAMPLE record is due, with `period` in its PERIOD field
    bool disable = false;     ///< the limit of REFRESH has run out: change_state() to off at this value
    bool hang_up = false;     ///< the signal of O_ASYNC says POLL_HUP, not POLL_IN
    bool signal = false;      ///< O_ASYNC wants a signal
    bool sigtrap = false;     ///< attr.sigtrap wants one
    bool throttle = false;    ///< a THROTTLE record is due, after the sample
    bool unthrottle = false;  ///< an UNTHROTTLE record is due, before all else
    std::uint64_t period = 0;
};

/// The period that a new event begins with: period_left of an event that has never been active.
std::uint64_t first_period(const EventPage& page);

/// The event becomes active: its period goes on, or begins anew where it was changed meanwhile. Sets period_left.
void resume_period(EventPage& page);

/// PERF_EVENT_IOC_PERIOD, or a frequency by the same name: sets period or frequency, and the end of the period that
/// runs. `value` is the source's now.
void change_period(EventPage& page, std::uint64_t value, std::uint64_t period_or_frequency);

/// `times` more of what is made to happen: adds to count and brings the end nearer. Call once for each where each may
/// be a sample.
void happened(EventPage& page, std::uint64_t times);

/// An active event that samples has come to a period's end at this value of its source; asked of events that are made
/// to happen after happened(), of whose source no value is.
bool overflow_due(const EventPage& page, std::uint64_t value);

/// One overflow, taken while one is due: moves the end, counts the limit down, adapts the period to a frequency.
/// `now` is in ns of a clock that goes on while the task sleeps. `samples_per_tick`: clocks are throttled beyond so
/// many in kTickNs; 0: never.
Overflow take_overflow(EventPage& page, std::uint64_t value, std::uint64_t now, std::uint32_t samples_per_tick);

/// The period that would have given `frequency` samples a second, had `count` events in `ns` been the rule; at least 1.
std::uint64_t period_for(std::uint64_t frequency, std::uint64_t count, std::uint64_t ns);

}  // namespace anyperf::subsystem
