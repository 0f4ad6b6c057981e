// open_group.cpp: group_fd: who may lead whom. "group_fd" of the manual, and Linux 6.18 for the rules.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/machine.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// A leader and a would-be sibling, before they are opened. pid and cpu of the leader's call too.
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
    Row{"plain", "a software event may lead another", 0, [](Pair&) {}},
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
    Row{"leader_on_a_cpu", "a leader bound to a CPU doesn't lead one that isn't", EINVAL,
        [](Pair& p) { p.leader.cpu = allowed_cpus().at(0); }},
    Row{"member_on_a_cpu", "a leader bound to no CPU doesn't lead one that is", EINVAL,
        [](Pair& p) { p.member.cpu = allowed_cpus().at(0); }},
    Row{"both_on_a_cpu", "both on one CPU", 0, [](Pair& p) { p.leader.cpu = p.member.cpu = allowed_cpus().at(0); }},
    Row{"two_cpus", "both on different CPUs", EINVAL,
        [](Pair& p) {
            p.leader.cpu = allowed_cpus().at(0);
            p.member.cpu = allowed_cpus().at(1);
        },
        kTwoCpus},
    Row{"pid_by_number", "pid 0 and the own pid are the same task", 0, [](Pair& p) { p.member.pid = ::getpid(); }},
    Row{"leaders_clock", "the leader uses another clock", EINVAL,
        [](Pair& p) {
            p.leader.attr.use_clockid = 1;
            p.leader.attr.clockid = 1;
        }},
    Row{"members_clock", "the sibling uses another clock", EINVAL,
        [](Pair& p) {
            p.member.attr.use_clockid = 1;
            p.member.attr.clockid = 1;
        }},
    Row{"one_clock", "both use one clock", 0,
        [](Pair& p) {
            p.leader.attr.use_clockid = p.member.attr.use_clockid = 1;
            p.leader.attr.clockid = p.member.attr.clockid = 4;
        }},
    Row{"breakpoint_in_software", "a breakpoint event in a software event's group", 0,
        [](Pair& p) { p.member.attr = watchpoint(&watched); }, kBreakpoint},
    Row{"software_in_breakpoint", "a software event in a breakpoint event's group", 0,
        [](Pair& p) { p.leader.attr = watchpoint(&watched); }, kBreakpoint},
    Row{"bad_breakpoint_pinned", "the PMU's own check comes before the group's rules", EINVAL,
        [](Pair& p) {
            p.member.attr = watchpoint(&watched, 3);
            p.member.attr.pinned = 1;
        },
        kBreakpoint},
    Row{"tracepoint_in_software", "a tracepoint in a software event's group", 0,
        [](Pair& p) { p.member.attr = tracepoint("syscalls", "sys_enter_getppid"); }, kTracefs},
    Row{"software_in_tracepoint", "a software event in a tracepoint's group", 0,
        [](Pair& p) { p.leader.attr = tracepoint("syscalls", "sys_enter_getppid"); }, kTracefs},
    Row{"software_in_hardware", "a software event in a hardware event's group", 0,
        [](Pair& p) { p.leader.attr = instructions(); }, kHardware},
    Row{"hardware_in_software", "a hardware event in a software event's group", 0,
        [](Pair& p) { p.member.attr = instructions(); }, kHardware},
    Row{"clock_in_dummy", "task-clock in a dummy's group", 0, [](Pair& p) { p.member.attr = task_clock(); }},
    Row{"disabled_leader", "a disabled leader with an enabled sibling", 0, [](Pair& p) { p.member.attr.disabled = 0; }},
    Row{"cpu_wide", "both on everything of one CPU", 0,
        [](Pair& p) {
            p.leader.pid = p.member.pid = -1;
            p.leader.cpu = p.member.cpu = allowed_cpus().at(0);
        },
        kRoot},
    Row{"task_in_cpu_wide", "a task's event in a CPU's group", EINVAL,
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

void sibling_leads_nobody() {
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

/// A group's read must stay below 16 KiB.
void group_fills(std::uint64_t format, int most) {
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Skip{"RLIMIT_NOFILE can't be 4096 here"};
    const Attr attr = changed(dummy(), [&](Attr& a) { a.read_format = format; });
    const Event leader{attr};
    std::vector<Event> members;
    long result = 0;
    while (static_cast<int>(members.size()) < most + 2) {
        Call call{.attr = attr, .group = leader.fd()};
        result = open_event(call);
        if (result < 0) break;
        members.push_back(Event::adopt(static_cast<int>(result)));
    }
    want_result("the sibling too many", result, E2BIG);
    want_equal("siblings", static_cast<int>(members.size()), most);
}

void closed_leader_frees_siblings() {
    Event leader{changed(dummy(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; })};
    const Event member = sibling(changed(dummy(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; }), leader);
    want_result("before", result_of(Call{.attr = dummy(), .group = member.fd()}), EINVAL);
    leader.close();
    want_result("after the leader's close", result_of(Call{.attr = dummy(), .group = member.fd()}), 0);
}

}  // namespace

std::vector<Case> open_group_cases() {
    std::vector<Case> cases;
    cases.reserve(kRows.size());
    for (const Row& row : kRows) cases.push_back({row.name, row.statement, row.needs, [&row] { check(row); }});
    append(cases,
           {
               {"sibling_as_leader", "a sibling leads nobody", kNothing, sibling_leads_nobody},
               {"other_task", "a group is of one task", kNothing, other_task},
               {"other_thread", "a group is of one thread", kNothing, other_thread},
               {"dead_leader", "a leader whose task has exited is ENODEV", kNothing, leader_of_a_dead_task},
               {"size_id", "FORMAT_GROUP with ID: 1022 siblings, then E2BIG", kNothing,
                [] { group_fills(PERF_FORMAT_GROUP | PERF_FORMAT_ID, 1022); }},
               {"size_all", "with all five bits: 680 siblings, then E2BIG", kNothing, [] { group_fills(31, 680); }},
               {"leader_closed", "siblings of a closed leader lead themselves", kNothing, closed_leader_frees_siblings},
           });
    return cases;
}

}  // namespace conformance
