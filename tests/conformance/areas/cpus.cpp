// cpus.cpp: events bound to a CPU: each counts what its task does on that CPU, and together they count all of it.
// CPU-wide events count all tasks on their CPU.
#include <unistd.h>

#include <array>
#include <memory>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::uint64_t watched = 0;

Attr stores() {
    return changed(watchpoint(&watched), [](Attr& a) { a.disabled = 0; });
}

void count_of_each_cpu() {
    const auto& cpus = allowed_cpus();
    const Event first{stores(), 0, cpus[0]};
    const Event second{stores(), 0, cpus[1]};
    const Event anywhere{stores()};
    pin_to(0);
    store(watched, 5);
    pin_to(1);
    store(watched, 7);
    pin_to(0);
    store(watched, 1);
    want_equal("on the first CPU", first.count(), 6U);
    want_equal("on the second", second.count(), 7U);
    want_equal("on any", anywhere.count(), 13U);
}

void sum_of_cpus() {
    const auto& cpus = allowed_cpus();
    std::vector<Event> events;
    events.reserve(cpus.size());
    for (const int cpu : cpus) events.emplace_back(stores(), 0, cpu);
    store(watched, 1000);
    std::uint64_t sum = 0;
    for (const Event& event : events) sum += event.count();
    want_equal("sum over all CPUs", sum, 1000U);
}

void inherited_on_each_cpu() {
    const auto& cpus = allowed_cpus();
    std::vector<Event> events;
    events.reserve(cpus.size());
    for (const int cpu : cpus) events.emplace_back(changed(stores(), [](Attr& a) { a.inherit = 1; }), 0, cpu);
    for (int i = 0; i < 4; ++i) in_child([] { store(watched, 25); });
    in_thread([] { store(watched, 10); });
    std::uint64_t sum = 0;
    for (const Event& event : events) sum += event.count();
    want_equal("sum over all CPUs", sum, 110U);
}

void rings_of_each_cpu() {
    const auto& cpus = allowed_cpus();
    const Attr attr = changed(watchpoint(&watched, 8, 2, 1), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
        a.sample_type = PERF_SAMPLE_CPU | PERF_SAMPLE_TID;
    });
    std::vector<Event> events;
    std::vector<std::unique_ptr<Ring>> rings;
    for (const int cpu : cpus) {
        events.emplace_back(attr, 0, cpu);
        rings.push_back(std::make_unique<Ring>(events.back()));
    }
    store(watched, 10);
    in_child([] { store(watched, 20); });
    std::size_t sum = 0;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        const auto samples = parse_samples(attr, rings[i]->drain());
        for (const Sample& sample : samples) want_equal("cpu", static_cast<int>(sample.cpu), cpus[i]);
        sum += samples.size();
    }
    want_equal("samples in all rings", sum, 30U);
}

void times_on_another_cpu() {
    const Attr attr = changed(stores(), [](Attr& a) { a.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING; });
    pin_to(0);
    const Event event{attr, 0, allowed_cpus().at(1)};
    store(watched, 3);
    want_equal("count, running", event.words(), std::vector<std::uint64_t>{0, 0});
}

void cpu_wide_counts_all() {
    const int cpu = pin_to(0);
    const Event event{changed(page_faults(), [](Attr& a) { a.disabled = 0; }), -1, cpu};
    Faults faults;
    const std::uint64_t before = event.count();
    faults.cause(10);
    in_child([&] { faults.cause(10); });
    in_thread([&] { faults.cause(10); });
    want_at_least("faults of this process, its child and its thread", event.count() - before, 30U);
}

void cpu_wide_times() {
    const int cpu = allowed_cpus().at(0);
    const Event event{changed(dummy(),
                              [](Attr& a) {
                                  a.disabled = 0;
                                  a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
                              }),
                      -1, cpu};
    const std::uint64_t first = event.words()[1];
    ::usleep(5000);
    const auto words = event.words();
    want_at_least("enabled, while the task sleeps", words[1], first + 5'000'000U);
    want_equal("running", words[2], words[1]);
}

void cpu_wide_task_records() {
    const int cpu = pin_to(0);
    const Attr attr = changed(dummy(), [](Attr& a) {
        a.disabled = 0;
        a.task = a.comm = 1;
    });
    const Event event{attr, -1, cpu};
    Ring ring{event, 64};
    pid_t pid = 0;
    {
        Child child{{}};
        pid = child.pid();
        child.join();
    }
    bool fork = false;
    bool exit = false;
    for (const Record& record : ring.drain()) {
        fork = fork || (record.type == PERF_RECORD_FORK && static_cast<pid_t>(record.u32(0)) == pid);
        exit = exit || (record.type == PERF_RECORD_EXIT && static_cast<pid_t>(record.u32(0)) == pid);
    }
    want("FORK of a task on the CPU is recorded", fork);
    want("EXIT of a task on the CPU is recorded", exit);
}

}  // namespace

std::vector<Case> cpu_cases() {
    return {
        {"each", "of a task's events on several CPUs, each counts only what the task does on that event's CPU",
         kBreakpoint | kTwoCpus, count_of_each_cpu},
        {"sum", "a task's events on all CPUs together count each store exactly once", kBreakpoint, sum_of_cpus},
        {"inherit", "inherited events on all CPUs together count children and threads exactly once", kBreakpoint,
         inherited_on_each_cpu},
        {"rings", "with an inherited event and a ring for each CPU, every sample is once in its CPU's ring",
         kBreakpoint, rings_of_each_cpu},
        {"elsewhere", "an event on a CPU where the task does not run has count 0 and running 0", kBreakpoint | kTwoCpus,
         times_on_another_cpu},
        {"all_tasks", "a CPU-wide event counts all tasks", kRoot, cpu_wide_counts_all},
        {"all_tasks_times", "a CPU-wide event's times advance whichever task runs", kRoot, cpu_wide_times},
        {"all_tasks_records", "a CPU-wide event's ring has the FORK and EXIT records of all tasks", kRoot,
         cpu_wide_task_records},
    };
}

}  // namespace conformance
