// ioctl_period.cpp: PERF_EVENT_IOC_PERIOD and PERF_EVENT_IOC_REFRESH on software events, whose overflows are exact.
#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

struct PeriodRow {
    const char* name;
    const char* statement;
    int expected;
    std::uint64_t opened_with;
    std::uint64_t period;
};

constexpr std::array kPeriods{
    PeriodRow{"counting", "PERIOD of a counting event is EINVAL", EINVAL, 0, 10},
    PeriodRow{"zero", "PERIOD 0 is EINVAL", EINVAL, 100, 0},
    PeriodRow{"bit_63", "PERIOD with bit 63 is EINVAL", EINVAL, 100, 1ULL << 63},
    PeriodRow{"largest", "PERIOD 2^63-1 is accepted", 0, 100, (1ULL << 63) - 1},
    PeriodRow{"one", "PERIOD 1 is accepted", 0, 100, 1},
};

long set_period(const Event& event, std::uint64_t period) {
    return event.ioctl(PERF_EVENT_IOC_PERIOD, &period);
}

void frequency(long above, int expected) {
    const auto limit = static_cast<std::uint64_t>(sysctl("perf_event_max_sample_rate").value_or(1) + above);
    const Event event{changed(page_faults(10), [](Attr& a) { a.freq = 1; })};
    want_result("PERIOD of " + std::to_string(limit) + " Hz", set_period(event, limit), expected);
}

void frequency_of_a_clock() {
    const Event event{changed(task_clock(1000), [](Attr& a) { a.freq = 1; })};
    want_result("PERIOD 2^40", set_period(event, 1ULL << 40), 0);
}

Attr sampling(std::uint64_t period) {
    return changed(page_faults(period), [](Attr& a) { a.sample_type = PERF_SAMPLE_ADDR; });
}

/// Causes `count` faults; returns the numbers, from 1, of those that are sampled.
std::vector<int> sampled(Ring& ring, const Event& event, Faults& faults, int count) {
    std::vector<int> numbers;
    for (int i = 1; i <= count; ++i) {
        event.enable();
        faults.cause(1);
        event.disable();
        for (std::size_t n = ring.drain(PERF_RECORD_SAMPLE).size(); n > 0; --n) numbers.push_back(i);
    }
    return numbers;
}

void takes_effect() {
    Faults faults;
    const Event event{sampling(8)};
    Ring ring{event};
    sampled(ring, event, faults, 1);  // touches the pages of the code that is measured below
    event.reset();
    want_equal("samples of period 8, of which one fault has passed", sampled(ring, event, faults, 7),
               std::vector<int>{7});
    want_success("PERIOD", set_period(event, 3));
    // Linux 6.18 with software events: the next event overflows, then the old period applies once more, then the new
    // period. The manual only promises that the period is updated.
    sampled(ring, event, faults, 20);
    const auto numbers = sampled(ring, event, faults, 12);
    want_equal("samples of 12 faults", numbers.size(), 4U);
    for (std::size_t i = 1; i < numbers.size(); ++i)
        want_equal("faults between two samples", numbers[i] - numbers[i - 1], 3);
}

void want_refresh_refused(const Attr& attr) {
    const Event event{attr};
    want_result("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 1UL), EINVAL);
}

void stop_after(std::uint64_t period, unsigned long overflows) {
    Faults faults;
    const Event event{sampling(period)};
    Ring ring{event};
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, overflows));
    faults.cause(40);
    want_equal("count", event.count(), period * overflows);
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), overflows);
    faults.cause(5);
    want_equal("count later", event.count(), period * overflows);
}

void adds_up() {
    Faults faults;
    const Event event{sampling(1)};
    Ring ring{event};
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 2UL));
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 3UL));
    faults.cause(40);
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 5U);
}

void again() {
    Faults faults;
    const Event event{sampling(2)};
    Ring ring{event};
    for (std::uint64_t round = 1; round <= 3; ++round) {
        want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 1UL));
        faults.cause(9);
        want_equal("count", event.count(), 2 * round);
    }
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
}

void without_a_ring() {
    Faults faults;
    const Event event{sampling(3)};
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 2UL));
    faults.cause(20);
    want_equal("count", event.count(), 6U);
}

}  // namespace

std::vector<Case> ioctl_period_cases() {
    std::vector<Case> cases;
    cases.reserve(kPeriods.size());
    for (const PeriodRow& row : kPeriods)
        cases.push_back({row.name, row.statement, kNothing, [&row] {
                             const Event event{page_faults(row.opened_with)};
                             want_result("PERF_EVENT_IOC_PERIOD", set_period(event, row.period), row.expected);
                         }});
    append(cases,
           {
               {"frequency", "PERIOD of an event opened with freq is a frequency, up to the limit", kNothing,
                [] { frequency(0, 0); }},
               {"frequency_above", "PERIOD of an event opened with freq is EINVAL above the limit", kNothing,
                [] { frequency(1, EINVAL); }},
               {"frequency_of_a_clock", "PERIOD of a task-clock opened with freq is a period, which has no limit",
                kNothing, frequency_of_a_clock},
               {"takes_effect", "PERIOD updates the overflow period", kNothing, takes_effect},
               {"refresh_counting", "REFRESH of a counting event is EINVAL", kNothing,
                [] { want_refresh_refused(page_faults()); }},
               {"refresh_inherit", "REFRESH with inherit is EINVAL", kNothing,
                [] { want_refresh_refused(changed(page_faults(1), [](Attr& a) { a.inherit = 1; })); }},
               {"refresh_1", "REFRESH 1 enables the event for one overflow, after which the count is the period",
                kNothing, [] { stop_after(5, 1); }},
               {"refresh_3", "REFRESH 3 enables the event for three overflows", kNothing, [] { stop_after(4, 3); }},
               {"refresh_adds", "REFRESH adds to the overflows that are left", kNothing, adds_up},
               {"refresh_again", "REFRESH starts a software event again", kNothing, again},
               {"refresh_no_ring", "REFRESH works without a ring", kNothing, without_a_ring},
           });
    return cases;
}

}  // namespace conformance
