// inherit.cpp: inherit, inherit_stat, inherit_thread. "inherit" of the manual.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/machine.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::uint64_t watched = 0;

/// A vehicle that is exact in children too.
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

void none(Attr&) {}

void sums(void (*change)(Attr&)) {
    const Event event{stores(change)};
    store(watched, 2);
    in_child([] { store(watched, 3); });
    want_equal("own and exited child's", event.count(), 5U);
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
    want_equal("three generations", event.count(), 7U);
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
    // Without SAMPLE_READ Linux may have swapped the contexts of parent and child: the parent's event has then counted
    // for it.
    const Event event{stores([](Attr& a) { a.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID; })};
    in_child([] { store(watched, 3); });
    store(watched, 1);
    want_equal("before", event.count(), 4U);
    event.reset();
    want_equal("what exited children have added stays", event.count(), 3U);
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
    want_equal("threads are added, processes aren't", event.count(), 3U);
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
    Child child{{[&] { events.clear(); }}};  // its copies of the descriptors
    child.step();
    const Call fifth{.attr = watchpoint(&watched), .pid = child.pid()};
    want_result("a fifth on the child", result_of(fifth), ENOSPC);
    events.clear();
    want_result("after close of the parent's", result_of(fifth), 0);
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

void childs_samples() {
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

void hup_with_the_last_child() {
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
        {"sums", "inherit: a read is the sum of own, living and exited children", kBreakpoint, [] { sums(none); }},
        {"stat", "inherit_stat: the same counts", kBreakpoint, [] { sums([](Attr& a) { a.inherit_stat = 1; }); }},
        {"living", "a living child's count is in the sum", kBreakpoint, living_child},
        {"grandchildren", "so are grandchildren's", kBreakpoint, grandchildren},
        {"threads", "so are threads'", kBreakpoint, threads},
        {"many", "children one after the other add up", kBreakpoint, many_children},
        {"not_inherited", "without inherit only the own thread counts", kBreakpoint, not_inherited},
        {"existing", "children that are there at the open are not counted, nor theirs", kBreakpoint, existing_children},
        {"disable", "ENABLE and DISABLE act on living children", kBreakpoint, disable_reaches_children},
        {"reset", "RESET acts on living children", kBreakpoint, reset_reaches_children},
        {"reset_exited", "RESET leaves what exited children have added", kBreakpoint, reset_keeps_exited},
        {"state", "a child inherits the state as it is", kBreakpoint, child_inherits_state},
        {"thread_only", "inherit_thread: threads are added, processes aren't", kBreakpoint, threads_only},
        {"times", "times are summed as well", kBreakpoint, times_are_summed},
        {"group", "FORMAT_GROUP: each member is summed", kBreakpoint, group},
        {"close", "close ends the children's events too: their slots are free", kBreakpoint, closing_frees_slots},
        {"faults", "page faults of children", kNothing, faults_of_children},
        {"samples", "a child's samples: the parent's ID, a STREAM_ID of its own", kBreakpoint, childs_samples},
        {"hup", "no POLLHUP while an inherited child lives", kNothing, hup_with_the_last_child},
    };
}

}  // namespace conformance
