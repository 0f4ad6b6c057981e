// software.cpp: what the software events count: "PERF_TYPE_SOFTWARE" of the manual.
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
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

/// Works until this thread has used `nanoseconds` of CPU time.
void burn(std::uint64_t nanoseconds) {
    for (const std::uint64_t until = thread_time() + nanoseconds; thread_time() < until;) {
    }
}

/// Sleeps `times` times for 0.1 ms.
void sleep_briefly(int times) {
    for (int i = 0; i < times; ++i) {
        const timespec little{.tv_sec = 0, .tv_nsec = 100'000};
        ::nanosleep(&little, nullptr);
    }
}

void faults_are_minor_and_major() {
    Faults faults;
    const Event all{page_faults()};
    const Event minor = sibling(changed(software(PERF_COUNT_SW_PAGE_FAULTS_MIN), [](Attr& a) { a.disabled = 0; }), all);
    const Event major = sibling(changed(software(PERF_COUNT_SW_PAGE_FAULTS_MAJ), [](Attr& a) { a.disabled = 0; }), all);
    all.enable();
    faults.cause(25);
    all.disable();
    want_equal("all", all.count(), 25U);
    want_equal("minor + major", minor.count() + major.count(), all.count());
    want_equal("minor, because these need no disk access", minor.count(), 25U);
}

void touched_again() {
    Faults faults;
    const Event event{page_faults()};
    event.enable();
    faults.cause(3);
    char* const last = faults.last();
    for (int i = 0; i < 100; ++i) *static_cast<volatile char*>(last) = 1;
    event.disable();
    want_equal("count, without faults of a page that is present", event.count(), 3U);
}

void at_most_getrusage() {
    Faults faults;
    rusage before{};
    rusage after{};
    const Event event{changed(page_faults(), [](Attr& a) { a.exclude_kernel = 0; })};
    ::getrusage(RUSAGE_THREAD, &before);
    event.enable();
    faults.cause(40);
    event.disable();
    ::getrusage(RUSAGE_THREAD, &after);
    const auto faulted =
        static_cast<std::uint64_t>(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt);
    want_at_least("count", event.count(), 40U);
    want_at_most("count", event.count(), faulted);
}

void switches() {
    const Event event{changed(software(PERF_COUNT_SW_CONTEXT_SWITCHES), [](Attr& a) { a.exclude_kernel = 0; })};
    event.enable();
    sleep_briefly(10);
    event.disable();
    want_at_least("switches of ten sleeps", event.count(), 10U);
}

void switches_in_user_mode() {
    const Event event{software(PERF_COUNT_SW_CONTEXT_SWITCHES)};
    event.enable();
    sleep_briefly(5);
    event.disable();
    want_equal("count with exclude_kernel, because switches happen in kernel mode", event.count(), 0U);
}

/// An event of the scheduler with period 1.
Attr sampling(std::uint64_t config) {
    return changed(software(config, 1), [](Attr& a) {
        a.exclude_kernel = 0;
        a.sample_type = PERF_SAMPLE_TID;
    });
}

void switches_sampled() {
    const Event event{sampling(PERF_COUNT_SW_CONTEXT_SWITCHES)};
    Ring ring{event};
    event.enable();
    sleep_briefly(10);
    event.disable();
    const auto samples = ring.drain(PERF_RECORD_SAMPLE);
    want_at_least("switches of ten sleeps", event.count(), 10U);
    want_equal("samples", samples.size(), event.count());
}

void migrations_sampled() {
    pin_to(0);
    const Event event{sampling(PERF_COUNT_SW_CPU_MIGRATIONS)};
    Ring ring{event};
    event.enable();
    for (int i = 1; i <= 6; ++i) pin_to(i % 2);
    event.disable();
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 6U);
}

void migrations() {
    pin_to(0);
    const Event event{changed(software(PERF_COUNT_SW_CPU_MIGRATIONS), [](Attr& a) { a.exclude_kernel = 0; })};
    event.enable();
    for (int i = 1; i <= 6; ++i) pin_to(i % 2);
    event.disable();
    want_equal("moves", event.count(), 6U);
}

void no_migrations() {
    pin_to(0);
    const Event event{changed(software(PERF_COUNT_SW_CPU_MIGRATIONS), [](Attr& a) { a.exclude_kernel = 0; })};
    event.enable();
    burn(2'000'000);
    event.disable();
    want_equal("moves of a pinned thread", event.count(), 0U);
}

void clock(std::uint64_t config, void (*change)(Attr&)) {
    const Event event{changed(software(config), change)};
    const std::uint64_t before = now(CLOCK_MONOTONIC);
    event.enable();
    burn(5'000'000);
    event.disable();
    const std::uint64_t took =
        now(CLOCK_MONOTONIC) - before;  // the thread's clock may not include time that the host has stolen
    want_at_least("nanoseconds", event.count(), 4'000'000U);
    want_at_most("nanoseconds", event.count(), took + 1'000'000U);
}

void clock_while_asleep(std::uint64_t config) {
    const Event event{software(config)};
    event.enable();
    const timespec long_enough{.tv_sec = 0, .tv_nsec = 50'000'000};
    ::nanosleep(&long_enough, nullptr);
    event.disable();
    want_at_most("nanoseconds of a task that slept for 50 ms", event.count(), 40'000'000U);
}

void zero(std::uint64_t config) {
    Faults faults;
    const Event event{software(config)};
    event.enable();
    faults.cause(3);
    sleep_briefly(2);
    event.disable();
    want_equal("count", event.count(), 0U);
}

void sampled_without_faults() {
    Faults faults;
    const Event event{page_faults(1)};
    const Ring ring{event};
    event.enable();
    const std::uint64_t before = thread_time();
    conformance_loop(10'000'000);
    const std::uint64_t used = thread_time() - before;
    event.disable();
    want_at_most("nanoseconds of 20 million instructions", used, 3'000'000'000U);
}

void faults_by_kernel() {
    Faults faults;
    const Event user{page_faults()};
    const Event both{changed(page_faults(), [](Attr& a) { a.exclude_kernel = 0; })};
    user.enable();
    both.enable();
    // The kernel touches the page for this thread, by a read(2) into it.
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw Failure{"pipe failed"};
    [[maybe_unused]] const auto written = ::write(pipe[1], "12345678", 8);
    const std::uint64_t user_before = user.count();
    const std::uint64_t both_before = both.count();
    [[maybe_unused]] const auto bytes = ::read(pipe[0], faults.next(), 8);
    const std::uint64_t user_after = user.count();
    const std::uint64_t both_after = both.count();
    want_equal("in user mode", user_after - user_before, 0U);
    want_equal("with kernel mode", both_after - both_before, 1U);
}

void exclude_user() {
    Faults faults;
    const Event event{changed(page_faults(), [](Attr& a) {
        a.exclude_user = 1;
        a.exclude_kernel = 0;
    })};
    event.enable();
    faults.cause(10);
    event.disable();
    want_equal("faults in user mode", event.count(), 0U);
}

void exclude_both() {
    Faults faults;
    const Event event{changed(page_faults(), [](Attr& a) { a.exclude_user = 1; })};
    event.enable();
    faults.cause(10);
    event.disable();
    want_equal("faults", event.count(), 0U);
}

/// An event that does not count in these cases.
struct Zero {
    const char* name;
    std::uint64_t config;
};

constexpr std::array kZeros{
    Zero{"alignment_faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
    Zero{"emulation_faults", PERF_COUNT_SW_EMULATION_FAULTS},
    Zero{"dummy", PERF_COUNT_SW_DUMMY},
    Zero{"bpf_output", PERF_COUNT_SW_BPF_OUTPUT},
    Zero{"cgroup_switches", PERF_COUNT_SW_CGROUP_SWITCHES},
};

}  // namespace

std::vector<Case> software_cases() {
    std::vector<Case> cases{
        {"faults", "page-faults is the sum of minor and major faults", kNothing, faults_are_minor_and_major},
        {"faults_once", "a page faults only at its first touch", kNothing, touched_again},
        {"faults_rusage", "page-faults is at most the number of faults of getrusage", kKernelSide, at_most_getrusage},
        {"faults_kernel", "without exclude_kernel faults of the kernel for the task count", kKernelSide,
         faults_by_kernel},
        {"faults_exclude_user", "with exclude_user the program's faults do not count", kKernelSide, exclude_user},
        {"faults_sampled", "sampling page-faults does not slow code down that causes none", kNothing,
         sampled_without_faults},
        {"faults_exclude_both", "with both exclude_user and exclude_kernel no faults count", kNothing, exclude_both},
        {"switches", "context-switches counts at least one switch for each sleep", kKernelSide, switches},
        {"switches_user", "context-switches with exclude_kernel are 0", kNothing, switches_in_user_mode},
        {"migrations", "cpu-migrations counts one migration for each move to another CPU", kKernelSide | kTwoCpus,
         migrations},
        {"switches_sampled", "context-switches with period 1 has a sample for each switch", kKernelSide,
         switches_sampled},
        {"migrations_sampled", "cpu-migrations with period 1 has a sample for each move to another CPU",
         kKernelSide | kTwoCpus, migrations_sampled},
        {"no_migrations", "cpu-migrations of a thread that stays on its CPU is 0", kKernelSide, no_migrations},
        {"task_clock_excluded", "task-clock ignores the exclude bits", kNothing,
         [] { clock(PERF_COUNT_SW_TASK_CLOCK, [](Attr& a) { a.exclude_user = 1; }); }},
    };
    for (const auto& [name, config] :
         {std::pair{"cpu_clock", PERF_COUNT_SW_CPU_CLOCK}, {"task_clock", PERF_COUNT_SW_TASK_CLOCK}}) {
        cases.push_back({name, std::string{name} + " of a task is its CPU time in nanoseconds", kNothing,
                         [config = config] { clock(config, [](Attr&) {}); }});
        cases.push_back({std::string{name} + "_asleep",
                         std::string{name} + " of a task does not advance while it sleeps", kNothing,
                         [config = config] { clock_while_asleep(config); }});
    }
    for (const Zero& row : kZeros)
        cases.push_back({std::string{"zero."} + row.name,
                         std::string{row.name} + " is 0 in a program without such events", kNothing,
                         [&row] { zero(row.config); }});
    return cases;
}

}  // namespace conformance
