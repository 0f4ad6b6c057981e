// overflow.h: the end of a sampling period: where the next period ends, which records and signals are due. Three
// families of events end their periods differently, as in Linux 6.18:
//
//   - Counters (the cpu PMU): as x86_perf_event_set_period(). An overshoot counts towards the next period. A new period
//     set by IOC_PERIOD begins at once.
//   - Clocks: as perf_swevent_hrtimer(). At most one sample per 10,000 ns; missed ends are skipped. Only clocks are
//     throttled, because a counter that runs in user space cannot stall the machine with interrupts.
//   - Software events (faults, switches, tracepoints, breakpoints, uprobes): as perf_swevent_event(). One overflow for
//     each end. IOC_PERIOD makes the very next event overflow, as the first event of a period of the old length; the
//     new length applies after that period, or when the event next begins to count. A fixed period together with
//     PERF_SAMPLE_PERIOD makes every event a sample of period 1.
//
// Most sources have a value, and the period ends where it reaches EventPage::overflow_at. Sources of kind
// `occurrences` have none: each occurrence counts EventPage::period_left down. The caller holds the event's lock.
// Freestanding, as event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

/// The tick of a kernel with HZ=250, which fits the advertised perf_event_mux_interval_ms of 4.
inline constexpr std::uint64_t kTickNs = 4'000'000;
inline constexpr std::uint64_t kShortestClockPeriodNs = 10'000;

inline constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
/// The frequency of a counter is kept by a time in parts of a ns, of which both an instruction and a modelled cycle
/// take a whole number.
inline constexpr std::uint64_t kPaceUnitsPerNs = 128;
inline constexpr std::uint64_t kPaceUnitsPerSecond = kPaceUnitsPerNs * kNsPerSecond;

struct Overflow {
    bool sample = false;      ///< a SAMPLE record is due; `period` is for its PERIOD field
    bool disable = false;     ///< the REFRESH limit has reached 0: the caller must change_state() to off at this value
    bool hang_up = false;     ///< the signal's code is POLL_HUP instead of POLL_IN
    bool signal = false;      ///< a signal by O_ASYNC is due
    bool sigtrap = false;     ///< a SIGTRAP is due (attr.sigtrap)
    bool throttle = false;    ///< a THROTTLE record is due after the sample
    bool unthrottle = false;  ///< an UNTHROTTLE record is due before the sample
    std::uint64_t period = 0;
};

/// The first period of a new event: its initial period_left.
std::uint64_t first_period(const EventPage& page);

/// To be called when the event begins to count: its period goes on. An early end that IOC_PERIOD has requested becomes
/// a whole period.
void resume_period(EventPage& page);

/// PERF_EVENT_IOC_PERIOD: sets the period (or the frequency, if the event has one) and the end of the current period.
/// `value` is the source's present value.
void change_period(EventPage& page, std::uint64_t value, std::uint64_t period_or_frequency);

/// Adds `times` occurrences to the count and to the period of an event whose source is of kind `occurrences`. However
/// many they are, at most one overflow is due afterwards. So for an event that may sample each occurrence it is to be
/// called for each.
void add_occurrences(EventPage& page, std::uint64_t times);

/// Whether an event that counts and samples has reached the end of its period, given its source's value. Events that
/// count occurrences have no value: for them it is called after add_occurrences().
bool overflow_due(const EventPage& page, std::uint64_t value);

/// Processes one overflow that is due: moves the end, counts the limit down, adapts the period to the frequency. For
/// clocks and software events `now` is in ns, of a clock that also runs while the task sleeps. For counters it is in
/// units of kPaceUnitsPerNs, and only adapts the period (pace_of() in sampling.cpp). Clocks are throttled after
/// `samples_per_tick` samples in kTickNs; 0: never.
Overflow take_overflow(EventPage& page, std::uint64_t value, std::uint64_t now, std::uint32_t samples_per_tick);

/// The period with which `count` events in `time` would have given `frequency` samples per second. At least 1.
/// `per_second`: how many units of `time` are a second.
std::uint64_t period_for(std::uint64_t frequency, std::uint64_t count, std::uint64_t time,
                         std::uint64_t per_second = kNsPerSecond);

}  // namespace anyperf::subsystem
