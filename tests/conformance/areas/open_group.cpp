// open_group.cpp: which events can be opened in the group of which leader: "group_fd" of the manual, and the rules of
// Linux 6.18.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// The calls that open a leader and a sibling.
struct Pair {
    Call leader{.attr = dummy()};
    Call member{.attr = page_faults()};
};

struct Row {
    const char* name;
    const char* statement;
    int expected;
    void (*change)(Pair&);
    unsigned needs = kNothing;
};

std::uint64_t watched = 0;

constexpr std::array kRows{
    Row{"plain", "a software event may lead another software event", 0, [](Pair&) {}},
    Row{"pinned_member", "a sibling may not be pinned", EINVAL, [](Pair& p) { p.member.attr.pinned = 1; }},
    Row{"exclusive_member", "a sibling may not be exclusive", EINVAL, [](Pair& p) { p.member.attr.exclusive = 1; }},
    Row{"pinned_leader", "a pinned leader may have siblings", 0, [](Pair& p) { p.leader.attr.pinned = 1; }},
    Row{"exclusive_leader", "an exclusive leader may have siblings", 0, [](Pair& p) { p.leader.attr.exclusive = 1; }},
    Row{"leader_inherits", "inherit of the leader alone is refused", EINVAL,
        [](Pair& p) { p.leader.attr.inherit = 1; }},
    Row{"member_inherits", "inherit of the sibling alone is refused", EINVAL,
        [](Pair& p) { p.member.attr.inherit = 1; }},
    Row{"both_inherit", "inherit of both is accepted", 0,
        [](Pair& p) { p.leader.attr.inherit = p.member.attr.inherit = 1; }},
    Row{"leader_on_a_cpu", "a sibling that is not bound to the leader's CPU is refused", EINVAL,
        [](Pair& p) { p.leader.cpu = allowed_cpus().at(0); }},
    Row{"member_on_a_cpu", "a sibling that is bound to a CPU is refused if the leader is not", EINVAL,
        [](Pair& p) { p.member.cpu = allowed_cpus().at(0); }},
    Row{"both_on_a_cpu", "leader and sibling may be bound to the same CPU", 0,
        [](Pair& p) { p.leader.cpu = p.member.cpu = allowed_cpus().at(0); }},
    Row{"two_cpus", "leader and sibling bound to different CPUs are refused", EINVAL,
        [](Pair& p) {
            p.leader.cpu = allowed_cpus().at(0);
            p.member.cpu = allowed_cpus().at(1);
        },
        kTwoCpus},
    Row{"pid_by_number", "pid 0 and the caller's own pid are the same task", 0,
        [](Pair& p) { p.member.pid = ::getpid(); }},
    Row{"leaders_clock", "a clockid of the leader alone is refused", EINVAL,
        [](Pair& p) {
            p.leader.attr.use_clockid = 1;
            p.leader.attr.clockid = 1;
        }},
    Row{"members_clock", "a clockid of the sibling alone is refused", EINVAL,
        [](Pair& p) {
            p.member.attr.use_clockid = 1;
            p.member.attr.clockid = 1;
        }},
    Row{"one_clock", "the same clockid of both is accepted", 0,
        [](Pair& p) {
            p.leader.attr.use_clockid = p.member.attr.use_clockid = 1;
            p.leader.attr.clockid = p.member.attr.clockid = 4;
        }},
    Row{"breakpoint_in_software", "a software event may lead a breakpoint", 0,
        [](Pair& p) { p.member.attr = watchpoint(&watched); }, kBreakpoint},
    Row{"software_in_breakpoint", "a breakpoint may lead a software event", 0,
        [](Pair& p) { p.leader.attr = watchpoint(&watched); }, kBreakpoint},
    Row{"bad_breakpoint_pinned", "errors of the PMU are checked before the rules of the group", EINVAL,
        [](Pair& p) {
            p.member.attr = watchpoint(&watched, 3);
            p.member.attr.pinned = 1;
        },
        kBreakpoint},
    Row{"tracepoint_in_software", "a software event may lead a tracepoint", 0,
        [](Pair& p) { p.member.attr = tracepoint("syscalls", "sys_enter_getppid"); }, kTracefs},
    Row{"software_in_tracepoint", "a tracepoint may lead a software event", 0,
        [](Pair& p) { p.leader.attr = tracepoint("syscalls", "sys_enter_getppid"); }, kTracefs},
    Row{"software_in_hardware", "a hardware event may lead a software event", 0,
        [](Pair& p) { p.leader.attr = instructions(); }, kHardware},
    Row{"hardware_in_software", "a software event may lead a hardware event", 0,
        [](Pair& p) { p.member.attr = instructions(); }, kHardware},
    Row{"clock_in_dummy", "dummy may lead task-clock", 0, [](Pair& p) { p.member.attr = task_clock(); }},
    Row{"disabled_leader", "a disabled leader may have an enabled sibling", 0,
        [](Pair& p) { p.member.attr.disabled = 0; }},
    Row{"cpu_wide", "a CPU-wide event may lead another on the same CPU", 0,
        [](Pair& p) {
            p.leader.pid = p.member.pid = -1;
            p.leader.cpu = p.member.cpu = allowed_cpus().at(0);
        },
        kRoot},
    Row{"task_in_cpu_wide", "a CPU-wide event may not lead a task's event", EINVAL,
        [](Pair& p) {
            p.leader.pid = -1;
            p.leader.cpu = p.member.cpu = allowed_cpus().at(0);
        },
        kRoot},
};

void check(const Row& row) {
    Pair pair;
    row.change(pair);
    const Event leader{pair.leader.attr, pair.leader.pid, pair.leader.cpu};
    pair.member.group = leader.fd();
    want_result("perf_event_open of the sibling", result_of(pair.member), row.expected);
}

void sibling_as_leader() {
    const Event leader{dummy()};
    const Event member = sibling(dummy(), leader);
    want_result("a sibling as group_fd", result_of(Call{.attr = dummy(), .group = member.fd()}), EINVAL);
}

void other_task() {
    const Child child{{}};
    const Event leader{dummy(), child.pid()};
    want_result("group_fd of another task", result_of(Call{.attr = dummy(), .group = leader.fd()}), EINVAL);
}

void other_thread() {
    const Event leader{dummy()};
    in_thread([&] {
        want_result("group_fd of another thread", result_of(Call{.attr = dummy(), .group = leader.fd()}), EINVAL);
    });
}

void leader_of_a_dead_task() {
    Child child{{}};
    const Event leader{dummy(), child.pid()};
    child.join();
    want_result("a leader whose task has exited", result_of(Call{.attr = dummy(), .group = leader.fd()}), ENODEV);
}

/// Linux limits a group's size so that its read stays below 16 KiB.
void fill_group(std::uint64_t format, int max_siblings) {
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Skip{"RLIMIT_NOFILE can't be set to 4096"};
    const Attr attr = changed(dummy(), [&](Attr& a) { a.read_format = format; });
    const Event leader{attr};
    std::vector<Event> members;
    long result = 0;
    while (static_cast<int>(members.size()) < max_siblings + 2) {
        Call call{.attr = attr, .group = leader.fd()};
        result = open_event(call);
        if (result < 0) want_equal("attr.size after the refusal", call.attr.size, attr.size);
        if (result < 0) break;
        members.push_back(Event::adopt(static_cast<int>(result)));
    }
    want_result("a sibling above the limit", result, E2BIG);
    want_equal("siblings", static_cast<int>(members.size()), max_siblings);
}

void sibling_of_closed_leader() {
    Event leader{changed(dummy(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; })};
    const Event member = sibling(changed(dummy(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; }), leader);
    want_result("before the leader's close", result_of(Call{.attr = dummy(), .group = member.fd()}), EINVAL);
    leader.close();
    want_result("after the leader's close", result_of(Call{.attr = dummy(), .group = member.fd()}), 0);
}

}  // namespace

std::vector<Case> open_group_cases() {
    std::vector<Case> cases;
    cases.reserve(kRows.size());
    for (const Row& row : kRows) cases.push_back({row.name, row.statement, row.needs, [&row] { check(row); }});
    append(
        cases,
        {
            {"sibling_as_leader", "a sibling can't be a leader", kNothing, sibling_as_leader},
            {"other_task", "all events of a group must be on the same task", kNothing, other_task},
            {"other_thread", "all events of a group must be on the same thread", kNothing, other_thread},
            {"dead_leader", "a group_fd of a leader whose task has exited is ENODEV", kNothing, leader_of_a_dead_task},
            {"size_id",
             "a group with FORMAT_GROUP and FORMAT_ID has at most 1022 siblings, then E2BIG, and attr.size stays",
             kNothing, [] { fill_group(PERF_FORMAT_GROUP | PERF_FORMAT_ID, 1022); }},
            {"size_all",
             "a group with all five bits of read_format has at most 680 siblings, then E2BIG, and attr.size stays",
             kNothing, [] { fill_group(31, 680); }},
            {"leader_closed", "a sibling of a closed leader can be a leader", kNothing, sibling_of_closed_leader},
        });
    return cases;
}

}  // namespace conformance
