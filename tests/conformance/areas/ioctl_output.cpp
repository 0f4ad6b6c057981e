// ioctl_output.cpp: PERF_EVENT_IOC_SET_OUTPUT and PERF_EVENT_IOC_PAUSE_OUTPUT.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/machine.h"
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

/// One target with a ring, one source without.
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
    Row{"plain", "an event of the same task", 0, [](Pair&) {}},
    Row{"target_on_a_cpu", "the target is bound to a CPU, the source isn't", EINVAL,
        [](Pair& p) { p.target.cpu = allowed_cpus().at(0); }},
    Row{"source_on_a_cpu", "the source is bound to a CPU, the target isn't", EINVAL,
        [](Pair& p) { p.source.cpu = allowed_cpus().at(0); }},
    Row{"one_cpu", "both are bound to one CPU", 0, [](Pair& p) { p.target.cpu = p.source.cpu = allowed_cpus().at(0); }},
    Row{"two_cpus", "they are bound to two CPUs", EINVAL,
        [](Pair& p) {
            p.target.cpu = allowed_cpus().at(0);
            p.source.cpu = allowed_cpus().at(1);
        },
        kTwoCpus},
    Row{"other_clock", "they have different clocks", EINVAL,
        [](Pair& p) {
            p.source.attr.use_clockid = 1;
            p.source.attr.clockid = 1;
        }},
    Row{"other_direction", "one writes backward", EINVAL, [](Pair& p) { p.source.attr.write_backward = 1; }},
    Row{"both_backward", "both write backward", 0,
        [](Pair& p) { p.source.attr.write_backward = p.target.attr.write_backward = 1; }},
    Row{"another_sample_type", "they may have different sample types", 0,
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
    want_result("its own descriptor", set_output(event, event.fd()), EINVAL);
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
    want_result("with a ring of its own", set_output(source, target.fd()), EINVAL);
    own.unmap();
    want_result("after munmap", set_output(source, target.fd()), 0);
}

void minus_one_of_32_bits() {
    const Event source{sampling()};
    want_result("0xffffffff", source.ioctl(PERF_EVENT_IOC_SET_OUTPUT, 0xffffffffUL), EBADF);
    want_result("-1", source.ioctl(PERF_EVENT_IOC_SET_OUTPUT, ~0UL), 0);
}

/// So many faults while both count; the records that come.
std::size_t samples(Ring& ring, const Event& source, Faults& faults, int count) {
    ring.drain();
    source.enable();
    faults.cause(count);
    source.disable();
    return ring.drain(PERF_RECORD_SAMPLE).size();
}

void records_arrive_and_stop() {
    Faults faults;
    const Event target{sampling()};
    Ring ring{target};
    const Event source{sampling()};
    want_equal("before", samples(ring, source, faults, 3), 0U);
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    samples(ring, source, faults, 1);
    want_equal("redirected", samples(ring, source, faults, 3), 3U);
    want_success("SET_OUTPUT -1", set_output(source, -1));
    want_equal("detached", samples(ring, source, faults, 3), 0U);
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

void last_mapping_gone() {
    const Event target{sampling()};
    Ring ring{target};
    const Event source{sampling()};
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    want_equal("poll before", poll_now(source) & POLLHUP, 0);
    ring.unmap();
    want_equal("poll after", poll_now(source) & POLLHUP, POLLHUP);
    const Ring anew{target};
    want_equal("poll with the target mapped anew", poll_now(source) & POLLHUP, POLLHUP);
}

void mapping_redirected() {
    const Event target{sampling()};
    const Ring ring{target, 8};
    const Event source{sampling()};
    want_success("SET_OUTPUT", set_output(source, target.fd()));
    want_result("mmap with the ring's size", mapping_result(source.fd(), 9 * kPageBytes), EBUSY);
    want_result("mmap with another", mapping_result(source.fd(), 5 * kPageBytes), EINVAL);
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

void lost_by_the_redirected() {
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
    want_equal("the first", records[0].type, std::uint32_t{PERF_RECORD_LOST});
    want_equal("its id", records[0].u64(0), event.id());
    want_equal("its number", records[0].u64(8), 4U);
}

}  // namespace

std::vector<Case> ioctl_output_cases() {
    std::vector<Case> cases;
    cases.reserve(kRows.size());
    for (const Row& row : kRows)
        cases.push_back({row.name, std::string{"SET_OUTPUT: "} + row.statement, row.needs, [&row] { check(row); }});
    append(cases,
           {
               {"other_task", "SET_OUTPUT: another task, when no CPU is given, is EINVAL", kNothing,
                [] { other_task(-1, EINVAL); }},
               {"other_task_one_cpu", "different tasks on the same CPU may share a ring", kNothing,
                [] { other_task(allowed_cpus().at(0), 0); }},
               {"closed_fd", "SET_OUTPUT to a descriptor that isn't open is EBADF", kNothing,
                [] { bad_target(9999, EBADF); }},
               {"no_event", "SET_OUTPUT to something that is no event is EBADF", kNothing,
                [] { bad_target(STDIN_FILENO, EBADF); }},
               {"itself", "SET_OUTPUT to itself is EINVAL", kNothing, itself},
               {"without_ring", "SET_OUTPUT to an event without a ring is EINVAL", kNothing, without_ring},
               {"own_ring", "SET_OUTPUT of an event with a ring of its own is EINVAL, until that is unmapped", kNothing,
                own_ring},
               {"minus_one", "-1 is a long: 0xffffffff is no descriptor", kNothing, minus_one_of_32_bits},
               {"records", "SET_OUTPUT sends the records to the other ring, -1 nowhere", kNothing,
                records_arrive_and_stop},
               {"chain", "an event redirected to a redirected one writes into the same ring", kNothing, chain_of_two},
               {"target_closed", "records go on when the target's descriptor is closed and its ring still mapped",
                kNothing, target_closed},
               {"last_mapping", "when the ring's last mapping goes, redirected events have none", kNothing,
                last_mapping_gone},
               {"map_redirected", "mmap of a redirected event is EBUSY with the ring's size, EINVAL with another",
                kNothing, mapping_redirected},
               {"poll", "poll of a redirected event is that of the ring: who polls first sees the wake-up", kNothing,
                poll_is_shared},
               {"lost", "samples are lost by the event that had them, not by the ring's", kNothing,
                lost_by_the_redirected},
               {"pause_no_ring", "PAUSE_OUTPUT without a ring is EINVAL", kNothing, [] { pause_without_ring(false); }},
               {"pause_header_only", "PAUSE_OUTPUT with the header page alone is EINVAL", kNothing,
                [] { pause_without_ring(true); }},
               {"pause", "paused, samples are dropped and counted as lost; afterwards LOST comes first", kNothing,
                pause_drops},
           });
    return cases;
}

}  // namespace conformance
