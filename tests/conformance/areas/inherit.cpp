// inherit.cpp: inherit, inherit_stat and inherit_thread: the counts, times, states and samples of inherited events. The
// workloads are stores that a watchpoint counts exactly, in children, too.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::uint64_t watched = 0;

/// An inherited, enabled watchpoint on `watched`: its counts are exact in children, too.
Attr stores(void (*change)(Attr&)) {
    return changed(watchpoint(&watched), [&](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
        change(a);
    });
}

Attr stores() {
    return stores([](Attr&) {});
}

void no_change(Attr&) {}

void sums(void (*change)(Attr&)) {
    const Event event{stores(change)};
    store(watched, 2);
    in_child([] { store(watched, 3); });
    want_equal("own count and that of the exited child", event.count(), 5U);
}

void living_child() {
    const Event event{stores()};
    Child child{{[] { store(watched, 4); }}};
    child.step();
    want_equal("count with the child alive", event.count(), 4U);
    child.join();
    want_equal("count after its exit", event.count(), 4U);
}

void grandchildren() {
    const Event event{stores()};
    in_child([] {
        store(watched, 1);
        in_child([] {
            store(watched, 2);
            in_child([] { store(watched, 4); });
        });
    });
    want_equal("count of three generations", event.count(), 7U);
}

void threads() {
    const Event event{stores()};
    in_thread([] { store(watched, 6); });
    store(watched, 1);
    want_equal("count", event.count(), 7U);
}

void many_children() {
    const Event event{stores()};
    for (int i = 0; i < 20; ++i) in_child([] { store(watched, 5); });
    want_equal("count", event.count(), 100U);
}

void not_inherited() {
    const Event event{changed(watchpoint(&watched), [](Attr& a) { a.disabled = 0; })};
    store(watched, 2);
    in_child([] { store(watched, 3); });
    in_thread([] { store(watched, 3); });
    want_equal("own stores only", event.count(), 2U);
}

void existing_children() {
    Child child{{[] { store(watched, 3); }, [] { in_child([] { store(watched, 3); }); }}};
    const Event event{stores()};
    child.step();
    child.step();
    want_equal("stores of an older child and its child", event.count(), 0U);
}

void disable_reaches_children() {
    const Event event{stores()};
    Child child{{[] { store(watched, 3); }, [] { store(watched, 3); }, [] { store(watched, 3); }}};
    child.step();
    event.disable();
    child.step();
    want_equal("while disabled", event.count(), 3U);
    event.enable();
    child.step();
    want_equal("enabled again", event.count(), 6U);
}

void reset_reaches_children() {
    const Event event{stores()};
    Child child{{[] { store(watched, 3); }, [] { store(watched, 2); }}};
    child.step();
    event.reset();
    want_equal("after reset", event.count(), 0U);
    child.step();
    want_equal("later", event.count(), 2U);
}

void reset_keeps_exited() {
    // Without SAMPLE_READ Linux may swap the contexts of parent and child; the parent's event then counts for the
    // child.
    const Event event{stores([](Attr& a) { a.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID; })};
    in_child([] { store(watched, 3); });
    store(watched, 1);
    want_equal("before", event.count(), 4U);
    event.reset();
    want_equal("after reset, the count of exited children", event.count(), 3U);
}

void child_inherits_state() {
    const Event event{stores([](Attr& a) { a.disabled = 1; })};
    in_child([] { store(watched, 3); });
    want_equal("a child of a disabled event", event.count(), 0U);
    event.enable();
    in_child([] { store(watched, 3); });
    want_equal("a child of an enabled one", event.count(), 3U);
}

void threads_only() {
    const Event event{stores([](Attr& a) { a.inherit_thread = 1; })};
    in_thread([] { store(watched, 3); });
    in_child([] { store(watched, 5); });
    want_equal("count of threads without processes", event.count(), 3U);
}

void times_are_summed() {
    const Event event{
        stores([](Attr& a) { a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING; })};
    const std::uint64_t before = event.words()[1];
    in_child([] {
        for (const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 500; std::clock() < until;) {
        }
    });
    const auto words = event.words();
    want_at_least("enabled", words[1], before + 1'000'000U);
    want_at_most("running", words[2], words[1]);
}

void group() {
    static std::uint64_t second = 0;
    const Attr format = stores([](Attr& a) { a.read_format = PERF_FORMAT_GROUP; });
    const Event leader{format};
    Attr other = format;
    other.bp_addr = reinterpret_cast<std::uint64_t>(&second);
    const Event member = sibling(other, leader);
    in_child([] {
        store(watched, 2);
        store(second, 5);
    });
    store(second, 1);
    want_equal("nr and the members' sums", leader.words(), std::vector<std::uint64_t>{2, 2, 6});
}

void closing_frees_slots() {
    std::vector<Event> events;
    events.reserve(4);
    for (int i = 0; i < 4; ++i) events.emplace_back(stores());
    Child child{{[&] { events.clear(); }}};  // closes the child's copies of the descriptors
    child.step();
    const Call fifth{.attr = watchpoint(&watched), .pid = child.pid()};
    want_result("a fifth breakpoint on the child", result_of(fifth), ENOSPC);
    events.clear();
    want_result("after the parent has closed its events", result_of(fifth), 0);
}

void faults_of_children() {
    Faults faults;
    const Event event{changed(page_faults(), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    })};
    const std::uint64_t before = event.count();
    in_child([&] { faults.cause(200); });
    want_at_least("faults", event.count() - before, 200U);
}

void samples_of_child() {
    const int cpu = pin_to(0);
    const Attr attr = changed(stores(), [](Attr& a) {
        a.sample_period = 1;
        a.sample_type =
            PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ;
    });
    const Event event{attr, 0, cpu};
    Ring ring{event};
    const pid_t pid = ::fork();
    if (pid == 0) {
        store(watched, 2);
        ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
    const auto samples = parse_samples(attr, ring.drain());
    want_equal("samples", samples.size(), 2U);
    want_equal("pid", static_cast<pid_t>(samples[0].pid), pid);
    want_equal("ID is the parent's", samples[0].id, event.id());
    want_equal("IDENTIFIER is the parent's", samples[0].identifier, event.id());
    want("STREAM_ID is its own", samples[0].stream_id != event.id());
    want_equal("READ is this task's own count", samples[1].read.at(0), 2U);
}

void no_hup_while_child_lives() {
    const int cpu = pin_to(0);
    Child parent{{[] {
        const pid_t child = ::fork();
        if (child == 0) {
            ::pause();
            ::_exit(0);
        }
    }}};
    const Event event{changed(dummy(), [](Attr& a) { a.inherit = 1; }), parent.pid(), cpu};
    const Ring ring{event};
    want_equal("poll before", poll_now(event) & 16, 0);
    parent.step();
    parent.join();
    want_equal("poll while a child lives", poll_now(event) & 16, 0);
}

}  // namespace

std::vector<Case> inherit_cases() {
    return {
        {"sums", "with inherit a read returns its own count plus those of living and exited children", kBreakpoint,
         [] { sums(no_change); }},
        {"stat", "inherit_stat does not change the sum", kBreakpoint,
         [] { sums([](Attr& a) { a.inherit_stat = 1; }); }},
        {"living", "the count of a living child is in the sum", kBreakpoint, living_child},
        {"grandchildren", "the counts of grandchildren are in the sum", kBreakpoint, grandchildren},
        {"threads", "the counts of threads are in the sum", kBreakpoint, threads},
        {"many", "the counts of successive children add up", kBreakpoint, many_children},
        {"not_inherited", "without inherit only the event's own thread counts", kBreakpoint, not_inherited},
        {"existing", "children that exist at the open, and their children, are not counted", kBreakpoint,
         existing_children},
        {"disable", "ENABLE and DISABLE act on living children", kBreakpoint, disable_reaches_children},
        {"reset", "RESET acts on living children", kBreakpoint, reset_reaches_children},
        {"reset_exited", "RESET does not reset the counts of exited children", kBreakpoint, reset_keeps_exited},
        {"state", "a child's event starts in the current state of its parent's", kBreakpoint, child_inherits_state},
        {"thread_only", "with inherit_thread threads are in the sum, processes are not", kBreakpoint, threads_only},
        {"times", "the times of children are added as well", kBreakpoint, times_are_summed},
        {"group", "with FORMAT_GROUP each member's value is its sum", kBreakpoint, group},
        {"close", "close removes the children's events, too: their breakpoint slots become free", kBreakpoint,
         closing_frees_slots},
        {"faults", "inherit adds the page faults of children", kNothing, faults_of_children},
        {"samples", "samples of a child have the parent's ID and their own STREAM_ID", kBreakpoint, samples_of_child},
        {"hup", "poll does not report POLLHUP while a child with an inherited event lives", kNothing,
         no_hup_while_child_lives},
    };
}

}  // namespace conformance
