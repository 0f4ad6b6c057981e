// sample_rate.cpp: sampling by time and by frequency, and throttling: "sample_period, sample_freq" of the manual.
#include <time.h>

#include <algorithm>
#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::uint64_t now(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t thread_time() {
    return now(CLOCK_THREAD_CPUTIME_ID);
}

/// Works until the ring has a sample, at most for `nanoseconds` of CPU time. Returns whether there is a sample. Reading
/// the clock enters the kernel often enough for samples to be taken.
bool work_until_sample(const Ring& ring, std::uint64_t nanoseconds) {
    const std::uint64_t until = thread_time() + nanoseconds;
    while (ring.head() == 0 && thread_time() < until) {
    }
    return ring.head() != 0;
}

void clock_samples(std::uint64_t config) {
    const Attr attr =
        changed(software(config, 1'000'000), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    want("a clock with a period of 1 ms samples within 5 s of work", work_until_sample(ring, 5'000'000'000U));
    event.disable();
    const auto samples = parse_samples(attr, ring.drain());
    want_equal("tid", static_cast<pid_t>(samples.at(0).tid), thread_id());
    want_equal("period", samples.at(0).period, 1'000'000U);
}

void clock_by_frequency() {
    const Attr attr = changed(task_clock(1000), [](Attr& a) {
        a.freq = 1;
        a.sample_type = PERF_SAMPLE_PERIOD;
    });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    want("a clock with a frequency of 1000 Hz samples within 5 s of work", work_until_sample(ring, 5'000'000'000U));
    event.disable();
    want_equal("period", parse_samples(attr, ring.drain()).at(0).period, 1'000'000U);
}

/// Works for about a millisecond without system calls.
void work_without_syscalls() {
    volatile std::uint64_t left = 1'000'000;
    while (left != 0) left = left - 1;
}

void clock_keeps_sampling() {
    const Attr attr = changed(task_clock(200'000), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
    const Event event{attr};
    Ring ring{event, 128};
    event.enable();
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t before = ring.head();
        for (int i = 0; i < 10 && ring.head() == before; ++i) work_without_syscalls();
        want_at_least("bytes of samples in one of 200 rounds of work", ring.head() - before, 1U);
        ring.drain();
    }
}

void at_most_one_in_10_us() {
    const Attr attr = changed(task_clock(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
    const Event event{attr};
    Ring ring{event, 128};
    const std::uint64_t before = now(CLOCK_MONOTONIC);
    const std::uint64_t start = thread_time();
    event.enable();
    while (thread_time() < start + 3'000'000) {
    }
    event.disable();
    const std::uint64_t took =
        now(CLOCK_MONOTONIC) - before;  // the thread's clock may not include time that the host has stolen
    const auto samples = ring.drain(PERF_RECORD_SAMPLE).size();
    want_at_least("samples", samples, 1U);
    want_at_most("samples, one for each 10 µs", samples, took / 10'000 + 1);
}

void first_period_of_a_frequency() {
    Faults faults;
    const Attr attr = changed(page_faults(1000), [](Attr& a) {
        a.freq = 1;
        a.sample_type = PERF_SAMPLE_PERIOD;
    });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    faults.cause(1);
    event.disable();
    const auto samples = parse_samples(attr, ring.drain());
    want_equal("samples of the first event", samples.size(), 1U);
    want_equal("period of the first sample", samples[0].period, 1U);
}

void frequency_adapts() {
    Faults faults{16384};
    const Attr attr = changed(page_faults(100), [](Attr& a) {
        a.freq = 1;
        a.sample_type = PERF_SAMPLE_PERIOD;
    });
    const Event event{attr};
    Ring ring{event, 256};
    event.enable();
    faults.cause(16000);
    event.disable();
    const auto samples = parse_samples(attr, ring.drain());
    want_at_least("samples", samples.size(), 1U);
    want_at_most("samples of 16000 events in quick succession", samples.size(), 15000U);
    std::uint64_t largest = 0;
    for (const Sample& sample : samples) largest = std::max(largest, sample.period);
    want_at_least("largest period", largest, 2U);
}

void single_events_not_throttled() {
    Faults faults{4096};
    const Event event{changed(page_faults(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; })};
    Ring ring{event, 64};
    event.enable();
    faults.cause(3000);
    event.disable();
    want_equal("THROTTLE records", ring.drain(PERF_RECORD_THROTTLE).size(), 0U);
}

/// Linux limits the interrupts in one tick: a rate of 1000 allows 4 in a tick of 4 ms.
void throttled() {
    const Setting rate{"perf_event_max_sample_rate", 1000};
    const Attr attr = changed(task_clock(20'000), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
        a.sample_id_all = 1;
    });
    const Event event{attr};
    Ring ring{event, 128};
    event.enable();
    std::vector<Record> records;
    const std::uint64_t until = thread_time() + 5'000'000'000U;
    while (thread_time() < until && only(records, PERF_RECORD_UNTHROTTLE).empty())
        for (Record& record : ring.drain()) records.push_back(std::move(record));
    event.disable();
    const auto throttles = only(records, PERF_RECORD_THROTTLE);
    want_at_least("THROTTLE records", throttles.size(), 1U);
    want_at_least("UNTHROTTLE records", only(records, PERF_RECORD_UNTHROTTLE).size(), 1U);
    want_equal("size", throttles[0].size, 32 + trailer_bytes(attr));
    want_equal("id", throttles[0].u64(8), event.id());
    want_equal("stream_id", throttles[0].u64(16), event.id());
}

}  // namespace

std::vector<Case> sample_rate_cases() {
    return {
        {"task_clock", "task-clock samples at its period, in nanoseconds", kNothing,
         [] { clock_samples(PERF_COUNT_SW_TASK_CLOCK); }},
        {"cpu_clock", "cpu-clock samples at its period, in nanoseconds", kNothing,
         [] { clock_samples(PERF_COUNT_SW_CPU_CLOCK); }},
        {"clock_frequency", "a clock's frequency is a fixed period of 10^9/freq", kNothing, clock_by_frequency},
        {"clock_goes_on", "a clock samples as long as its task works", kNothing, clock_keeps_sampling},
        {"clock_limit", "a clock samples at most once in 10 µs", kNothing, at_most_one_in_10_us},
        {"frequency_first", "with freq the first period is 1", kNothing, first_period_of_a_frequency},
        {"frequency_adapts", "with freq the period adapts to the frequency", kNothing, frequency_adapts},
        {"not_throttled", "a software event is not throttled if each overflow is one occurrence", kNothing,
         single_events_not_throttled},
        {"throttle", "above the maximal rate there is a THROTTLE record, and an UNTHROTTLE record at a later tick",
         kRoot | kSysctl, throttled},
    };
}

}  // namespace conformance
