// open_flags.cpp: the flags argument of perf_event_open ("PERF_FLAG_…" of the manual), and invalid values of group_fd.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/open_rows.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr std::array kRows{
    OpenRow{"bit_4", "flags: bit 4 is unknown", EINVAL, [](Call& c) { c.flags = 16; }},
    OpenRow{"bit_31", "flags: bit 31 is unknown", EINVAL, [](Call& c) { c.flags = 1UL << 31; }},
    OpenRow{"bit_63", "flags: bit 63 is unknown", EINVAL, [](Call& c) { c.flags = 1UL << 63; }},
    OpenRow{"no_group", "FD_NO_GROUP without a group_fd is accepted", 0,
            [](Call& c) { c.flags = PERF_FLAG_FD_NO_GROUP; }},
    OpenRow{"output_alone", "FD_OUTPUT without a group_fd is accepted and has no effect", 0,
            [](Call& c) { c.flags = PERF_FLAG_FD_OUTPUT; }},
    OpenRow{"no_group_bad_fd", "with FD_NO_GROUP, too, a group_fd that is not open is EBADF", EBADF,
            [](Call& c) {
                c.flags = PERF_FLAG_FD_NO_GROUP;
                c.group = 9999;
            }},
    OpenRow{"group_fd_stdin", "group_fd that is not an event is EBADF", EBADF, [](Call& c) { c.group = STDIN_FILENO; }},
    OpenRow{"group_fd_closed", "group_fd that is not open is EBADF", EBADF, [](Call& c) { c.group = 9999; }},
    OpenRow{"group_fd_below_minus_1", "group_fd -2 is EBADF", EBADF, [](Call& c) { c.group = -2; }},
    OpenRow{"cgroup_cpu_minus_1", "PID_CGROUP with cpu -1 is EINVAL", EINVAL,
            [](Call& c) { c.flags = PERF_FLAG_PID_CGROUP; }},
    OpenRow{"cgroup_pid_minus_1", "PID_CGROUP with pid -1 is EINVAL", EINVAL,
            [](Call& c) {
                c.flags = PERF_FLAG_PID_CGROUP;
                c.pid = -1;
                c.cpu = 0;
            }},
    OpenRow{"cgroup_bad_fd", "PID_CGROUP with a bad descriptor is EBADF", EBADF,
            [](Call& c) {
                c.flags = PERF_FLAG_PID_CGROUP;
                c.pid = 9999;
                c.cpu = 0;
            },
            kRoot},
    OpenRow{"cgroup_file", "PID_CGROUP with a file is EBADF", EBADF,
            [](Call& c) {
                c.flags = PERF_FLAG_PID_CGROUP;
                c.pid = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
                c.cpu = 0;
            },
            kRoot},
    OpenRow{"cgroup_directory", "PID_CGROUP with a directory that is not a cgroup is EBADF", EBADF,
            [](Call& c) {
                c.flags = PERF_FLAG_PID_CGROUP;
                c.pid = ::open("/", O_RDONLY | O_CLOEXEC);
                c.cpu = 0;
            },
            kRoot},
};

void cloexec() {
    const Event with{dummy(), 0, -1, -1, PERF_FLAG_FD_CLOEXEC};
    want_equal("F_GETFD with FD_CLOEXEC", ::fcntl(with.fd(), F_GETFD), FD_CLOEXEC);
    const Event without{dummy()};
    want_equal("F_GETFD without FD_CLOEXEC", ::fcntl(without.fd(), F_GETFD), 0);
}

Attr group_format() {
    return changed(page_faults(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP; });
}

void no_group_does_not_join() {
    const Event leader{group_format()};
    const Event other{group_format(), 0, -1, leader.fd(), PERF_FLAG_FD_NO_GROUP};
    want_equal("nr of the leader", leader.words()[0], 1U);
    want_equal("nr of the other event", other.words()[0], 1U);
}

Attr sampling_tid() {
    return changed(page_faults(1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_TID;
        a.read_format = PERF_FORMAT_GROUP;
    });
}

void output_redirects(unsigned long flags, std::uint64_t members) {
    Faults faults;
    const Event leader{sampling_tid()};
    Ring ring{leader};
    const Event other{sampling_tid(), 0, -1, leader.fd(), flags};
    want_equal("nr of the leader", leader.words()[0], members);
    for (int round = 0; round < 2; ++round) {  // each round samples three faults
        ring.drain();
        other.enable();
        leader.enable();
        faults.cause(3);
        leader.disable();
        other.disable();
    }
    want_equal("samples in the leader's ring", ring.drain(PERF_RECORD_SAMPLE).size(), 6U);
}

void output_without_ring(unsigned long flags) {
    const Event leader{sampling_tid()};
    want_result("perf_event_open", result_of(Call{.attr = sampling_tid(), .group = leader.fd(), .flags = flags}),
                EINVAL);
}

void cgroup_counts_its_tasks() {
    const Cgroup group;
    const int directory = ::open(group.path().c_str(), O_RDONLY | O_CLOEXEC);
    const int cpu = pin_to(0);
    Faults faults;
    const Event event{page_faults(), directory, cpu, -1, PERF_FLAG_PID_CGROUP};
    event.enable();
    faults.cause(20);
    want_equal("faults of a task outside the cgroup", event.count(), 0U);
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(30); }}};
    child.step();
    group.add(child.pid());
    child.step();
    child.join();
    event.disable();
    want_at_least("faults of a task in the cgroup", event.count(), 30U);
}

/// perf_cgroup_match() in kernel/events/core.c.
void cgroup_counts_tasks_below() {
    const Cgroup group;
    const std::string below = group.path() + "/below";
    if (::mkdir(below.c_str(), 0755) != 0) throw Skip{"can't create " + below};
    const int directory = ::open(group.path().c_str(), O_RDONLY | O_CLOEXEC);
    const int cpu = pin_to(0);
    Faults faults;
    {
        Child child{{[&] { faults.cause(1); }, [&] { faults.cause(30); }}};
        child.step();
        const long moved = write_to(below + "/cgroup.procs", std::to_string(child.pid()));
        const Event event{page_faults(), directory, cpu, -1, PERF_FLAG_PID_CGROUP};
        event.enable();
        if (moved >= 0) child.step();
        event.disable();
        if (moved >= 0) want_at_least("faults of a task in a cgroup below", event.count(), 30U);
        child.join();
    }
    ::rmdir(below.c_str());
}

/// A task that leaves the cgroup is not counted any more.
void cgroup_is_left() {
    const Cgroup group;
    const std::string other = group.path() + "/../cgroup.procs";
    const int directory = ::open(group.path().c_str(), O_RDONLY | O_CLOEXEC);
    const int cpu = pin_to(0);
    Faults faults;
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(30); }, [&] { faults.cause(30); }}};
    child.step();
    group.add(child.pid());
    const Event event{page_faults(), directory, cpu, -1, PERF_FLAG_PID_CGROUP};
    event.enable();
    child.step();
    const std::uint64_t inside = event.count();
    if (write_to(other, std::to_string(child.pid())) < 0) throw Skip{"can't move a process out of a cgroup"};
    const std::uint64_t left = event.count();
    child.step();
    event.disable();
    child.join();
    want_at_least("faults in the cgroup", inside, 30U);
    want_at_most("faults after it was left", event.count() - left, 20U);
}

}  // namespace

std::vector<Case> open_flags_cases() {
    std::vector<Case> cases = open_cases(kRows, dummy());
    append(
        cases,
        {
            {"cloexec", "the descriptor is close-on-exec if and only if FD_CLOEXEC is set", kNothing, cloexec},
            {"no_group_with_group", "with FD_NO_GROUP the event does not join the group", kNothing,
             no_group_does_not_join},
            {"output_no_group",
             "with FD_OUTPUT and FD_NO_GROUP records go to the ring of group_fd, and the event does not join the group",
             kNothing, [] { output_redirects(PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP, 1); }},
            {"output_group", "with FD_OUTPUT records go to the leader's ring, and the event joins the group", kNothing,
             [] { output_redirects(PERF_FLAG_FD_OUTPUT, 2); }},
            {"output_no_ring", "FD_OUTPUT to an event without a ring is EINVAL", kNothing,
             [] { output_without_ring(PERF_FLAG_FD_OUTPUT); }},
            {"output_no_group_no_ring", "FD_OUTPUT with FD_NO_GROUP to an event without a ring is EINVAL", kNothing,
             [] { output_without_ring(PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP); }},
            {"cgroup", "PID_CGROUP counts only the cgroup's tasks on that CPU", kRoot | kCgroup,
             cgroup_counts_its_tasks},
            {"cgroup_below", "PID_CGROUP counts tasks in cgroups below it", kRoot | kCgroup, cgroup_counts_tasks_below},
            {"cgroup_left", "PID_CGROUP does not count a task that has left the cgroup", kRoot | kCgroup,
             cgroup_is_left},
        });
    return cases;
}

}  // namespace conformance
