// ioctl_output.cpp: PERF_EVENT_IOC_SET_OUTPUT: which pairs of events it accepts, and where records, wake-ups and lost
// samples go; and PERF_EVENT_IOC_PAUSE_OUTPUT.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

Attr sampling() {
    return changed(page_faults(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
}

long set_output(const Event& event, int fd) {
    return event.ioctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(static_cast<long>(fd)));
}

/// SET_OUTPUT redirects the source, which has no ring, to the ring of the target.
struct Pair {
    Call target{.attr = sampling()};
    Call source{.attr = sampling()};
};

struct Row {
    const char* name;
    const char* statement;
    int expected;
    void (*change)(Pair&);
    unsigned needs = kNothing;
};

constexpr std::array kRows{
    Row{"plain", "source and target on the same task are accepted", 0, [](Pair&) {}},
    Row{"target_on_a_cpu", "a target that is bound to a CPU is EINVAL for a source that is not", EINVAL,
        [](Pair& p) { p.target.cpu = allowed_cpus().at(0); }},
    Row{"source_on_a_cpu", "a source that is bound to a CPU is EINVAL for a target that is not", EINVAL,
        [](Pair& p) { p.source.cpu = allowed_cpus().at(0); }},
    Row{"one_cpu", "source and target bound to the same CPU are accepted", 0,
        [](Pair& p) { p.target.cpu = p.source.cpu = allowed_cpus().at(0); }},
    Row{"two_cpus", "source and target bound to different CPUs are EINVAL", EINVAL,
        [](Pair& p) {
            p.target.cpu = allowed_cpus().at(0);
            p.source.cpu = allowed_cpus().at(1);
        },
        kTwoCpus},
    Row{"other_clock", "different clocks are EINVAL", EINVAL,
        [](Pair& p) {
            p.source.attr.use_clockid = 1;
            p.source.attr.clockid = 1;
        }},
    Row{"other_direction", "write_backward of only one of them is EINVAL", EINVAL,
        [](Pair& p) { p.source.attr.write_backward = 1; }},
    Row{"both_backward", "write_backward of both is accepted", 0,
        [](Pair& p) { p.source.attr.write_backward = p.target.attr.write_backward = 1; }},
    Row{"another_sample_type", "different sample types are accepted", 0,
        [](Pair& p) { p.source.attr.sample_type = PERF_SAMPLE_IP; }},
};

void check(const Row& row) {
    Pair pair;
    row.change(pair);
    const Event target{pair.target.attr, pair.target.pid, pair.target.cpu};
    const Ring ring{target};
    const Event source{pair.source.attr, pair.source.pid, pair.source.cpu};
    want_result("PERF_EVENT_IOC_SET_OUTPUT", set_output(source, target.fd()), row.expected);
}

void other_task(int cpu, int expected) {
    const Child child{{}};
    const Event target{sampling(), 0, cpu};
    const Ring ring{target};
    const Event source{sampling(), child.pid(), cpu};
    want_result("PERF_EVENT_IOC_SET_OUTPUT", set_output(source, target.fd()), expected);
}

void bad_target(int fd, int expected) {
    const Event source{sampling()};
    want_result("PERF_EVENT_IOC_SET_OUTPUT", set_output(source, fd), expected);
}

void itself() {
    const Event event{sampling()};
    const Ring ring{event};
    want_result("the event's own descriptor", set_output(event, event.fd()), EINVAL);
}

void without_ring() {
    const Event target{sampling()};
    const Event source{sampling()};
    want_result("a target without a ring", set_output(source, target.fd()), EINVAL);
}

void own_ring() {
    const Event target{sampling()};
    const Ring ring{target};
    const Event source{sampling()};
    Ring own{source};
    want_result("a source with its own ring", set_output(source, target.fd()), EINVAL);
    own.unmap();
    want_result("the source after munmap", set_output(source, target.fd()), 0);
}

void minus_one_of_32_bits() {
    const Event source{sampling()};
    want_result("0xffffffff", source.ioctl(PERF_EVENT_IOC_SET_OUTPUT, 0xffffffffUL), EBADF);
    want_result("-1", source.ioctl(PERF_EVENT_IOC_SET_OUTPUT, ~0UL), 0);
}

/// Causes `count` faults while the source counts; returns the number of samples in the ring.
std::size_t samples(Ring& ring, const Event& source, Faults& faults, int count) {
    ring.drain();
    source.enable();
    faults.cause(count);
    source.disable();
    return ring.drain(PERF_RECORD_SAMPLE).size();
}

void records_redirected() {
    Faults faults;
    const Event target{sampling()};
    Ring ring{target};
    const Event source{sampling()};
    want_equal("samples before SET_OUTPUT", samples(ring, source, faults, 3), 0U);
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    samples(ring, source, faults, 1);
    want_equal("samples while redirected", samples(ring, source, faults, 3), 3U);
    want_success("SET_OUTPUT -1", set_output(source, -1));
    want_equal("samples after SET_OUTPUT -1", samples(ring, source, faults, 3), 0U);
}

void chain_of_two() {
    Faults faults;
    const Event target{sampling()};
    Ring ring{target};
    const Event middle{sampling()};
    want_success("SET_OUTPUT", set_output(middle, target.fd()));
    const Event source{sampling()};
    want_success("SET_OUTPUT to a redirected event", set_output(source, middle.fd()));
    samples(ring, source, faults, 1);
    want_equal("samples", samples(ring, source, faults, 2), 2U);
}

void target_closed() {
    Faults faults;
    Event target{sampling()};
    Ring ring{target};
    const Event source{sampling()};
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    target.close();
    samples(ring, source, faults, 1);
    want_equal("samples", samples(ring, source, faults, 2), 2U);
}

void last_mapping_removed() {
    const Event target{sampling()};
    Ring ring{target};
    const Event source{sampling()};
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    want_equal("poll before", poll_now(source) & POLLHUP, 0);
    ring.unmap();
    want_equal("poll after", poll_now(source) & POLLHUP, POLLHUP);
    const Ring second{target};
    want_equal("poll after the target is mapped again", poll_now(source) & POLLHUP, POLLHUP);
}

void mapping_redirected() {
    const Event target{sampling()};
    const Ring ring{target, 8};
    const Event source{sampling()};
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    want_result("mmap with the ring's size", mapping_result(source.fd(), 9 * kPageBytes), EBUSY);
    want_result("mmap with another size", mapping_result(source.fd(), 5 * kPageBytes), EINVAL);
}

void poll_is_shared() {
    Faults faults;
    const Event target{changed(sampling(), [](Attr& a) { a.wakeup_events = 1; })};
    const Ring ring{target};
    const Event source{changed(sampling(), [](Attr& a) { a.wakeup_events = 1; })};
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    source.enable();
    faults.cause(1);
    source.disable();
    want_equal("poll of the target", poll_now(target), POLLIN);
    want_equal("poll of the source", poll_now(source), 0);
}

void lost_by_redirected_event() {
    Faults faults;
    const Attr attr = changed(sampling(), [](Attr& a) { a.read_format = PERF_FORMAT_LOST; });
    const Event target{attr};
    const Ring ring{target, 1};
    const Event source{attr};
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    source.enable();
    faults.cause(300);
    source.disable();
    want_equal("count, lost of the source", source.words(), std::vector<std::uint64_t>{300, 45});
    want_equal("count, lost of the target", target.words(), std::vector<std::uint64_t>{0, 0});
}

void pause_without_ring(bool header) {
    const Event event{sampling()};
    std::optional<Ring> ring;
    if (header) ring.emplace(event, 0);
    want_result("PAUSE_OUTPUT", event.ioctl(PERF_EVENT_IOC_PAUSE_OUTPUT, 1UL), EINVAL);
}

void pause_drops() {
    Faults faults;
    const Event event{changed(sampling(), [](Attr& a) { a.read_format = PERF_FORMAT_LOST; })};
    Ring ring{event};
    samples(ring, event, faults, 1);
    event.reset();
    want_success("PAUSE_OUTPUT 1", event.ioctl(PERF_EVENT_IOC_PAUSE_OUTPUT, 1UL));
    want_equal("samples while paused", samples(ring, event, faults, 4), 0U);
    want_equal("count, lost", event.words(), std::vector<std::uint64_t>{4, 4});
    want_success("PAUSE_OUTPUT 0", event.ioctl(PERF_EVENT_IOC_PAUSE_OUTPUT, 0UL));
    event.enable();
    faults.cause(1);
    event.disable();
    const auto records = ring.drain();
    want_equal("records", records.size(), 2U);
    want_equal("type of the first record", records[0].type, std::uint32_t{PERF_RECORD_LOST});
    want_equal("id in LOST", records[0].u64(0), event.id());
    want_equal("number in LOST", records[0].u64(8), 4U);
}

}  // namespace

std::vector<Case> ioctl_output_cases() {
    std::vector<Case> cases;
    cases.reserve(kRows.size());
    for (const Row& row : kRows)
        cases.push_back({row.name, std::string{"SET_OUTPUT: "} + row.statement, row.needs, [&row] { check(row); }});
    append(
        cases,
        {
            {"other_task", "SET_OUTPUT to an event of another task is EINVAL if they are not bound to a CPU", kNothing,
             [] { other_task(-1, EINVAL); }},
            {"other_task_one_cpu", "events of different tasks that are bound to the same CPU may share a ring",
             kNothing, [] { other_task(allowed_cpus().at(0), 0); }},
            {"closed_fd", "SET_OUTPUT to a descriptor that is not open is EBADF", kNothing,
             [] { bad_target(9999, EBADF); }},
            {"no_event", "SET_OUTPUT to a descriptor that is not an event is EBADF", kNothing,
             [] { bad_target(STDIN_FILENO, EBADF); }},
            {"itself", "SET_OUTPUT to itself is EINVAL", kNothing, itself},
            {"without_ring", "SET_OUTPUT to an event without a ring is EINVAL", kNothing, without_ring},
            {"own_ring", "SET_OUTPUT of an event that has its own ring is EINVAL until the ring is unmapped", kNothing,
             own_ring},
            {"minus_one", "the argument is a long: 0xffffffff is not -1, but an invalid descriptor", kNothing,
             minus_one_of_32_bits},
            {"records", "SET_OUTPUT sends the records to the target's ring; with -1 there are no records", kNothing,
             records_redirected},
            {"chain", "an event redirected to a redirected event writes to the same ring", kNothing, chain_of_two},
            {"target_closed", "records still arrive after the target's descriptor is closed, while its ring is mapped",
             kNothing, target_closed},
            {"last_mapping", "when the last mapping of the ring is removed, redirected events no longer have a ring",
             kNothing, last_mapping_removed},
            {"map_redirected", "mmap of a redirected event is EBUSY with the ring's size, and EINVAL with another size",
             kNothing, mapping_redirected},
            {"poll", "events that share a ring share its wake-up: the first poll reports it", kNothing, poll_is_shared},
            {"lost", "a lost sample is counted by the event that it belongs to, not by the owner of the ring", kNothing,
             lost_by_redirected_event},
            {"pause_no_ring", "PAUSE_OUTPUT without a ring is EINVAL", kNothing, [] { pause_without_ring(false); }},
            {"pause_header_only", "PAUSE_OUTPUT with only the user page mapped is EINVAL", kNothing,
             [] { pause_without_ring(true); }},
            {"pause",
             "while paused, samples are dropped and counted as lost; then a LOST record precedes the next sample",
             kNothing, pause_drops},
        });
    return cases;
}

}  // namespace conformance
