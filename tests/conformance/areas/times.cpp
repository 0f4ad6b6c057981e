// times.cpp: time_enabled and time_running: "read_format" of the manual, and Linux 6.18 for tasks that sleep or have
// exited.
#include <ctime>
#include <string>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

using Words = std::vector<std::uint64_t>;

Attr timed(Attr attr = page_faults()) {
    return changed(attr,
                   [](Attr& a) { a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING; });
}

std::uint64_t now(clockid_t clock = CLOCK_MONOTONIC) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Works until this thread has used `nanoseconds` of CPU time.
void burn(std::uint64_t nanoseconds = 2'000'000) {
    const std::uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;
    while (now(CLOCK_THREAD_CPUTIME_ID) < until) {
    }
}

void never_enabled() {
    const Event event{timed()};
    burn();
    want_equal("value, enabled, running", event.words(), Words{0, 0, 0});
}

void runs_while_enabled() {
    const Event event{timed()};
    event.enable();
    burn();
    event.disable();
    const Words words = event.words();
    want_at_least("enabled", words[1], 1'000'000U);
    want_equal("running", words[2], words[1]);
}

void at_most_the_wall_clock() {
    const Event event{timed()};
    const std::uint64_t before = now();
    event.enable();
    burn();
    event.disable();
    want_at_most("enabled", event.words()[1], now() - before + 1'000'000U);
}

void stops_while_disabled() {
    const Event event{timed()};
    event.enable();
    burn();
    event.disable();
    const Words words = event.words();
    burn();
    want_equal("value, enabled, running", event.words(), words);
}

void continues_when_enabled_again() {
    const Event event{timed()};
    event.enable();
    burn();
    event.disable();
    const std::uint64_t first = event.words()[1];
    event.enable();
    burn();
    event.disable();
    want_at_least("enabled", event.words()[1], first + 1'000'000U);
}

void grows_while_enabled() {
    const Event event{timed()};
    event.enable();
    const std::uint64_t first = event.words()[1];
    burn();
    want_at_least("enabled", event.words()[1], first + 1'000'000U);
}

void reset_keeps_times() {
    const Event event{timed()};
    event.enable();
    burn();
    event.disable();
    const Words before = event.words();
    event.reset();
    const Words after = event.words();
    want_equal("enabled", after[1], before[1]);
    want_equal("running", after[2], before[2]);
}

void sleeping_task() {
    Child child{{[] { burn(); }, [] { burn(); }}};
    const Event event{changed(timed(), [](Attr& a) { a.disabled = 0; }), child.pid()};
    child.step();
    const std::string stat = "/proc/" + std::to_string(child.pid()) + "/stat";
    while (read_text(stat).find(") S ") == std::string::npos) burn();  // the child has done its step and goes to sleep
    burn();
    const Words words = event.words();
    want_at_least("enabled", words[1], 1'000'000U);
    burn(10'000'000);
    want_equal("value, enabled, running of a sleeping task", event.words(), words);
}

void exited_task() {
    Faults faults;
    Child child{{[&] { faults.cause(5); }}};
    const Event event{changed(timed(), [](Attr& a) { a.disabled = 0; }), child.pid()};
    child.step();
    child.join();
    const Words words = event.words();
    want_at_least("faults", words[0], 5U);
    burn();
    want_equal("value, enabled, running after the task's exit", event.words(), words);
}

void later_sibling() {
    const Attr attr = timed();
    const Event leader{attr};
    leader.enable();
    burn();
    const Event member = sibling(changed(attr, [](Attr& a) { a.disabled = 0; }), leader);
    burn();
    leader.disable();
    want_at_least("enabled of the leader", leader.words()[1], member.words()[1] + 1'000'000U);
}

void sibling_with_disabled_leader() {
    const Event leader{timed()};
    const Event member = sibling(changed(timed(), [](Attr& a) { a.disabled = 0; }), leader);
    burn();
    want_equal("value, enabled, running", member.words(), Words{0, 0, 0});
}

void task_clock_near_time_running() {
    const Event event{timed(task_clock())};
    event.enable();
    burn();
    event.disable();
    const Words words = event.words();
    want_at_least("task-clock", words[0], 1'000'000U);
    want_at_most("task-clock against running", words[0], words[2] + 1'000'000U);
}

}  // namespace

std::vector<Case> times_cases() {
    return {
        {"never_enabled", "an event that was never enabled has times 0", kNothing, never_enabled},
        {"enabled", "time_enabled advances while the event is enabled, and time_running of a software event equals it",
         kNothing, runs_while_enabled},
        {"nanoseconds", "times are nanoseconds", kNothing, at_most_the_wall_clock},
        {"disabled", "both times stop while the event is disabled", kNothing, stops_while_disabled},
        {"again", "both times continue when the event is enabled again", kNothing, continues_when_enabled_again},
        {"while_enabled", "a read of an enabled event has the current times", kNothing, grows_while_enabled},
        {"reset", "RESET does not change the times", kNothing, reset_keeps_times},
        {"sleeping", "the times of an event do not advance while its task sleeps", kNothing, sleeping_task},
        {"exited", "after the task's exit count and times are constant and can be read", kNothing, exited_task},
        {"later_sibling", "a sibling that joins later has its own, shorter times", kNothing, later_sibling},
        {"disabled_leader", "the times of a sibling of a disabled leader do not advance", kNothing,
         sibling_with_disabled_leader},
        {"task_clock", "task-clock of a task is close to its time_running", kNothing, task_clock_near_time_running},
    };
}

}  // namespace conformance
