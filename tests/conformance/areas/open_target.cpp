// open_target.cpp: which tasks and CPUs an event measures: the arguments pid and cpu of perf_event_open ("Arguments" of
// the manual).
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

#include "areas/areas.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/open_rows.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr std::array kRows{
    OpenRow{"pid_0", "pid 0 and cpu -1 are accepted: the calling thread on any CPU", 0, [](Call&) {}},
    OpenRow{"own_pid", "the caller's own pid is accepted", 0, [](Call& c) { c.pid = ::getpid(); }},
    OpenRow{"cpu_too_large", "a CPU that does not exist is EINVAL", EINVAL, [](Call& c) { c.cpu = 0x7ffffff0; }},
    OpenRow{"cpu_just_too_large", "CPU 8192 or above is EINVAL", EINVAL, [](Call& c) { c.cpu = 8192; }},
    OpenRow{"cpu_below_minus_1", "cpu -2 is EINVAL", EINVAL, [](Call& c) { c.cpu = -2; }},
    OpenRow{"no_task_no_cpu", "pid -1 with cpu -1 is EINVAL", EINVAL, [](Call& c) { c.pid = -1; }},
    OpenRow{"no_such_pid", "a pid that does not exist is ESRCH", ESRCH, [](Call& c) { c.pid = 0x7ffffff0; }},
    OpenRow{"pid_below_minus_1", "pid -2 is ESRCH", ESRCH, [](Call& c) { c.pid = -2; }},
    OpenRow{"lowest_pid", "the lowest int as pid is ESRCH", ESRCH, [](Call& c) { c.pid = -0x7fffffff - 1; }},
    OpenRow{"own_cpu", "pid 0 with a CPU is accepted", 0, [](Call& c) { c.cpu = allowed_cpus().at(0); }},
    OpenRow{"cpu_wide", "pid -1 with a CPU is accepted: all tasks on that CPU", 0,
            [](Call& c) {
                c.pid = -1;
                c.cpu = allowed_cpus().at(0);
            },
            kRoot},
};

void child_pid() {
    const Child child{{}};
    want_result("a child's pid", result_of(Call{.attr = dummy(), .pid = child.pid()}), 0);
}

void child_on_cpu() {
    const Child child{{}};
    want_result("a child on a CPU", result_of(Call{.attr = dummy(), .pid = child.pid(), .cpu = allowed_cpus().at(0)}),
                0);
}

void zombie() {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
    want_result("a zombie", result_of(Call{.attr = dummy(), .pid = pid}), ESRCH);
    ::waitpid(pid, nullptr, 0);
    want_result("a reaped process", result_of(Call{.attr = dummy(), .pid = pid}), ESRCH);
}

void just_forked() {
    for (int i = 0; i < 20; ++i) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            for (;;) ::pause();
        }
        const long result = result_of(Call{.attr = dummy(), .pid = pid});
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        want_result("a child that has just been created", result, 0);
    }
}

void stopped_at_start() {
    Faults faults;
    // The child may run before it is stopped, but touches nothing until the event is there.
    auto* const is_measured = static_cast<std::atomic<int>*>(
        ::mmap(nullptr, Faults::kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    is_measured->store(0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        while (is_measured->load() == 0) {
        }
        faults.cause(9);
        ::_exit(0);
    }
    const bool attached = ::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0;
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (!attached || !WIFSTOPPED(status)) ::kill(pid, SIGKILL);
    if (!attached || !WIFSTOPPED(status)) throw Skip{"tracing a child is not permitted"};
    const Event event{page_faults(), pid};
    event.enable();
    is_measured->store(1);
    ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
    ::waitpid(pid, &status, 0);
    ::munmap(is_measured, Faults::kPage);
    want_at_least("faults of the child from its start", event.count(), 9U);
}

void tid_measures_that_thread() {
    Faults faults;
    in_thread([&] {
        faults.cause(1);
        const Event by_tid{page_faults(), thread_id()};
        by_tid.enable();
        by_tid.disable();
        by_tid.reset();
        by_tid.enable();
        faults.cause(7);
        by_tid.disable();
        want_equal("faults by tid", by_tid.count(), 7U);
    });
}

void pid_measures_the_first_thread() {
    Faults faults;
    const Event by_pid{page_faults(), ::getpid()};
    by_pid.enable();
    const std::uint64_t before = by_pid.count();
    std::uint64_t during = 0;
    in_thread([&] {
        const std::uint64_t start = by_pid.count();
        faults.cause(50);
        during = by_pid.count() - start;
    });
    by_pid.disable();
    want_equal("faults of another thread", during, 0U);
    want_at_most("faults of the first thread meanwhile", by_pid.count() - before, 45U);
}

void counts_child() {
    Faults faults;
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(9); }}};
    const Event event{page_faults(), child.pid()};
    child.step();
    event.enable();
    child.step();
    event.disable();
    want_at_least("faults of the child", event.count(), 9U);
    want_at_most("faults of the child", event.count(), 12U);
}

void other_cpu_counts_nothing() {
    Faults faults;
    pin_to(0);
    Event event{changed(page_faults(), [](Attr& a) { a.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING; }), 0,
                allowed_cpus().at(0)};
    const int second = pin_to(1);
    event = Event{changed(page_faults(), [](Attr& a) { a.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING; }), 0, second};
    pin_to(0);
    event.enable();
    faults.cause(5);
    event.disable();
    want_equal("count, running", event.words(), std::vector<std::uint64_t>{0, 0});
}

void own_cpu_counts() {
    Faults faults;
    const int cpu = pin_to(0);
    const Event event{page_faults(), 0, cpu};
    event.enable();
    faults.cause(5);
    event.disable();
    want_equal("faults", event.count(), 5U);
}

void cpu_wide_counts_a_child() {
    const int cpu = pin_to(0);
    Faults faults;
    const Event event{page_faults(), -1, cpu};
    event.enable();
    in_child([&] { faults.cause(300); });
    event.disable();
    want_at_least("faults on the CPU", event.count(), 300U);
}

}  // namespace

std::vector<Case> open_target_cases() {
    std::vector<Case> cases = open_cases(kRows, dummy());
    append(cases, {
                      {"child", "a child's pid is accepted", kNothing, child_pid},
                      {"child_on_cpu", "a child's pid with a CPU is accepted", kNothing, child_on_cpu},
                      {"just_forked", "a child can be measured as soon as fork has returned", kNothing, just_forked},
                      {"stopped_at_start", "a child that a tracer has stopped at its start can be measured", kNothing,
                       stopped_at_start},
                      {"zombie", "a process that has ended, reaped or not, is ESRCH", kNothing, zombie},
                      {"tid", "a tid measures the thread with that id", kNothing, tid_measures_that_thread},
                      {"pid_is_one_thread", "a pid measures the first thread of the process, not its other threads",
                       kNothing, pid_measures_the_first_thread},
                      {"counts_a_child", "an event on a child counts what the child does", kNothing, counts_child},
                      {"other_cpu", "a thread is not measured while it runs on another CPU than the event's", kTwoCpus,
                       other_cpu_counts_nothing},
                      {"that_cpu", "a thread is measured while it runs on the event's CPU", kNothing, own_cpu_counts},
                      {"all_tasks", "pid -1 counts all tasks that run on the CPU", kRoot, cpu_wide_counts_a_child},
                  });
    return cases;
}

}  // namespace conformance
