// overflow.cpp: overflow.h explains the three families. Everything here is arithmetic on one page. The caller holds the
// page's lock, passes the source's value and the time, and acts on the result.
//
// Values are 64-bit numbers that wrap; they are compared by their signed difference. The page is shared with programs,
// so nothing here loops by a number from the page or divides by one without a check.
#include "subsystem/shared/overflow.h"

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"

namespace anyperf::subsystem {
namespace {

enum class Family { counter, clock, software };

Family family_of(const EventPage& page) {
    switch (page.source.kind) {
        case Source::Kind::counters: return Family::counter;
        case Source::Kind::task_clock:
        case Source::Kind::cpu_clock: return Family::clock;
        default: return Family::software;
    }
}

bool counts_occurrences(const EventPage& page) {
    return page.source.kind == Source::Kind::occurrences;
}

/// Whether every event is a sample, whatever is left of a period (the first branches of perf_swevent_event()).
bool samples_each(const EventPage& page) {
    if (family_of(page) != Family::software || page.frequency != 0) return false;
    return page.period == 1 || (page.shape.sample_type & abi::sample("PERF_SAMPLE_PERIOD"));
}

/// perf's hrtimers fire at most once in 10,000 ns (perf_swevent_start_hrtimer()).
std::uint64_t clock_period(std::uint64_t period) {
    return period < kShortestClockPeriodNs ? kShortestClockPeriodNs : period;
}

/// The next period begins at the end of this one, not at the value: an overshoot counts towards it. If the value is
/// beyond the next end as well, a whole period begins at the value.
void end_counter_period(EventPage& page, std::uint64_t value) {
    const std::uint64_t beyond = value - page.overflow_at;
    page.overflow_at = beyond >= page.period ? value + page.period : page.overflow_at + page.period;
}

/// hrtimer_forward(): ends that have passed are skipped, and the phase is kept.
void end_clock_period(EventPage& page, std::uint64_t value) {
    const std::uint64_t period = clock_period(page.period);
    page.overflow_at += ((value - page.overflow_at) / period + 1) * period;
}

/// Occurrences count down what is left of the period; all others overflow at a value.
void move_end(EventPage& page, std::uint64_t by) {
    if (counts_occurrences(page))
        page.period_left += by;
    else
        page.overflow_at += by;
}

/// perf_swevent_set_period(): the next period has the length that was in force when the present one began, and the new
/// length follows after it. An early end is the first event of the period that now begins; in a period of 1 it is also
/// the last, so it overflows twice.
void end_software_period(EventPage& page) {
    if (samples_each(page)) return move_end(page, 1);
    const std::uint64_t length = page.last_period == 0 ? page.period : page.last_period;
    const std::uint64_t early_end = page.early_end;
    page.early_end = 0;
    move_end(page, length - early_end);
    if (length > early_end) page.last_period = page.period;
}

void end_period(EventPage& page, std::uint64_t value) {
    switch (family_of(page)) {
        case Family::counter: return end_counter_period(page, value);
        case Family::clock: return end_clock_period(page, value);
        case Family::software: return end_software_period(page);
    }
}

/// Moves the period by an eighth of the way to the one that would have been right, as perf_adjust_period(). The kernel
/// adapts intervals of more than two ticks in its tick; a measured thread has no tick, so each overflow adapts.
void adapt(EventPage& page, std::uint64_t now) {
    const std::uint64_t time = now - page.last_overflow_time;
    const bool first = page.last_overflow_time == 0;
    page.last_overflow_time = now;
    if (first || static_cast<std::int64_t>(time) <= 0) return;
    const std::uint64_t per_second = family_of(page) == Family::counter ? kPaceUnitsPerSecond : kNsPerSecond;
    const std::uint64_t wanted = period_for(page.frequency, page.period, time, per_second);
    const std::int64_t away = static_cast<std::int64_t>(wanted - page.period);
    const std::int64_t step = (away >= 0 ? away + 7 : away - 7) / 8;
    // Rounded away from 0, so that the period reaches the wanted one in the end.
    page.period += static_cast<std::uint64_t>(step);
    if (page.period == 0) page.period = 1;
}

/// Clocks only. The period is made to end when the next tick begins. The source is in ns, so its value at that moment
/// can be computed.
void throttle(EventPage& page, std::uint64_t value, std::uint64_t now, Overflow& overflow) {
    page.throttled = 1;
    overflow.throttle = true;
    page.overflow_at = value + (kTickNs - now % kTickNs);
}

/// perf_event_account_interrupt(): the number of samples in one tick, against kernel.perf_event_max_sample_rate.
bool over_limit(EventPage& page, std::uint64_t now, std::uint32_t samples_per_tick) {
    const std::uint64_t tick = now / kTickNs;
    page.tick_samples = tick == page.tick ? page.tick_samples + 1 : 1;
    page.tick = tick;
    return samples_per_tick != 0 && page.tick_samples >= samples_per_tick;
}

/// Counts an overflow against REFRESH's limit, if there is one. True if it was the last.
bool runs_out(EventPage& page) {
    if (page.limit <= 0) return false;
    --page.limit;
    return page.limit == 0;
}

}  // namespace

// perf_calculate_period(): count * 10^9 / (ns * frequency), in 128 bits where the kernel loses precision.
std::uint64_t period_for(std::uint64_t frequency, std::uint64_t count, std::uint64_t time, std::uint64_t per_second) {
    __extension__ using Wide = unsigned __int128;
    constexpr std::uint64_t kLongest = ~0ull >> 1;
    const Wide divisor = static_cast<Wide>(time) * frequency;
    if (divisor == 0) return count == 0 ? 1 : count;
    const Wide period = static_cast<Wide>(count) * per_second / divisor;
    if (period == 0) return 1;
    return period > kLongest ? kLongest : static_cast<std::uint64_t>(period);
}

std::uint64_t first_period(const EventPage& page) {
    if (samples_each(page)) return 1;
    return family_of(page) == Family::clock ? clock_period(page.period) : page.period;
}

void resume_period(EventPage& page) {
    if (page.early_end) page.period_left = first_period(page);
    page.early_end = 0;
    page.last_period = page.period;
}

void change_period(EventPage& page, std::uint64_t value, std::uint64_t period_or_frequency) {
    if (page.frequency != 0) {
        page.frequency = period_or_frequency;
        return;
    }
    page.period = period_or_frequency;
    page.early_end = family_of(page) == Family::software && page.state == EventState::counting;
    page.period_left = page.early_end ? 1 : first_period(page);
    if (!counts_occurrences(page)) page.overflow_at = value + page.period_left;
}

void add_occurrences(EventPage& page, std::uint64_t times) {
    page.count += times;
    if (page.sampling) page.period_left -= times < page.period_left ? times : page.period_left;
}

bool overflow_due(const EventPage& page, std::uint64_t value) {
    if (!page.sampling || page.state != EventState::counting) return false;
    if (counts_occurrences(page)) return page.period_left == 0;
    return static_cast<std::int64_t>(value - page.overflow_at) >= 0;
}

Overflow take_overflow(EventPage& page, std::uint64_t value, std::uint64_t now, std::uint32_t samples_per_tick) {
    Overflow overflow{.sample = true, .period = samples_each(page) ? 1 : page.period};
    if (page.throttled) overflow.unthrottle = true;
    page.throttled = 0;
    // The kernel adapts the period of a counter before it sets the next end, that of a software event afterwards.
    if (page.frequency != 0 && family_of(page) == Family::counter) adapt(page, now);
    end_period(page, value);
    if (family_of(page) == Family::clock && over_limit(page, now, samples_per_tick))
        throttle(page, value, now, overflow);
    if (page.frequency != 0 && family_of(page) != Family::counter) adapt(page, now);
    overflow.disable = overflow.hang_up = runs_out(page);
    overflow.signal = page.notify.on && page.notify.owner != 0;
    overflow.sigtrap = page.shape.flags & abi::flag("sigtrap");
    return overflow;
}

}  // namespace anyperf::subsystem
