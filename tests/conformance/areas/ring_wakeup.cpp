// ring_wakeup.cpp: what poll(2), select(2) and epoll(7) report for an event: wake-ups by number of samples and by
// bytes, and POLLHUP: "Overflow handling" of the manual.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

Attr waking(std::uint32_t events) {
    return changed(page_faults(1), [&](Attr& a) {
        a.sample_type = PERF_SAMPLE_TID;
        a.wakeup_events = events;
    });
}

Attr watermark(std::uint32_t bytes) {
    return changed(waking(0), [&](Attr& a) {
        a.watermark = 1;
        a.wakeup_watermark = bytes;
    });
}

/// Causes `samples` samples; returns the numbers, from 1, of those after which poll reports POLLIN. Does not drain the
/// ring.
std::vector<int> wakeups(const Event& event, Faults& faults, int samples) {
    std::vector<int> numbers;
    for (int i = 1; i <= samples; ++i) {
        event.enable();
        faults.cause(1);
        event.disable();
        if (poll_now(event) & POLLIN) numbers.push_back(i);
    }
    return numbers;
}

struct Row {
    const char* name;
    const char* statement;
    Attr (*attr)();
    int samples;
    std::vector<int> wakeups;  ///< numbers of the samples that wake the poller
};

const std::vector<Row>& wakeup_rows() {
    static const std::vector<Row> all{
        {"events_1", "wakeup_events 1 wakes at every sample", [] { return waking(1); }, 4, {1, 2, 3, 4}},
        {"events_2", "wakeup_events 2 wakes at every second sample", [] { return waking(2); }, 6, {2, 4, 6}},
        {"events_5", "wakeup_events 5 wakes at every fifth sample", [] { return waking(5); }, 12, {5, 10}},
        {"watermark_32",
         "a watermark of 32 bytes wakes when head is more than 32 bytes beyond the last wake-up",
         [] { return watermark(32); },
         9,
         {3, 5, 7, 9}},
        {"watermark_40",
         "a watermark of 40 bytes wakes at samples 3, 6 and 8 of 16 bytes each",
         [] { return watermark(40); },
         8,
         {3, 6, 8}},
        {"watermark_48",
         "a watermark of 48 bytes wakes at samples 4 and 7 of 16 bytes each",
         [] { return watermark(48); },
         7,
         {4, 7}},
        {"watermark_1", "a watermark of 1 byte wakes at every sample", [] { return watermark(1); }, 3, {1, 2, 3}},
    };
    return all;
}

void check(const Row& row) {
    Faults faults;
    const Event event{row.attr()};
    const Ring ring{event};
    want_equal("samples that wake the poller", wakeups(event, faults, row.samples), row.wakeups);
}

/// Half of a ring of one page is 128 samples of 16 bytes.
void half_the_ring(const Attr& attr) {
    Faults faults;
    const Event event{attr};
    const Ring ring{event, 1};
    want_equal("samples that wake the poller", wakeups(event, faults, 200), std::vector<int>{129});
}

void above_the_ring() {
    Faults faults;
    const Event event{watermark(1U << 30)};
    Ring ring{event, 1};
    want_equal("wake-ups in the first 255 samples", wakeups(event, faults, 255), std::vector<int>{});
    ring.drain();
    want_equal("wake-ups later", wakeups(event, faults, 3), std::vector<int>{2});
}

void once() {
    Faults faults;
    const Event event{waking(1)};
    const Ring ring{event};
    wakeups(event, faults, 0);
    event.enable();
    faults.cause(1);
    event.disable();
    want_equal("poll", poll_now(event), POLLIN);
    want_equal("second poll, with the data still unread", poll_now(event), 0);
}

void by_select() {
    Faults faults;
    const Event event{waking(1)};
    const Ring ring{event};
    event.enable();
    faults.cause(1);
    event.disable();
    for (const int expected : {1, 0}) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(event.fd(), &set);
        timeval none{};
        want_equal("select", ::select(event.fd() + 1, &set, nullptr, nullptr, &none), expected);
    }
}

void by_select_with_microseconds(long microseconds, int error) {
    Faults faults;
    const Event event{waking(1)};
    const Ring ring{event};
    event.enable();
    faults.cause(1);
    event.disable();
    fd_set set;
    FD_ZERO(&set);
    FD_SET(event.fd(), &set);
    // By the system call: the function of libc may change the time.
    timeval wait{0, microseconds};
    want_result("select", or_errno(::syscall(SYS_select, event.fd() + 1, &set, nullptr, nullptr, &wait)), error);
}

/// ppoll(2) of an event that has hung up, by the system call: libc's function passes a copy of the time.
long ppoll_event(const Event& event, timespec& wait, std::size_t mask_bytes) {
    pollfd wanted{.fd = event.fd(), .events = POLLIN, .revents = 0};
    std::uint64_t mask = 0;
    return or_errno(::syscall(SYS_ppoll, &wanted, 1, &wait, &mask, mask_bytes));
}

void ppoll_of_a_ready_event() {
    const Event event{waking(1)};
    timespec wait{5, 500};
    want_result("ppoll", ppoll_event(event, wait, 8), 0);
    want("the remaining time is less than the timeout", wait.tv_sec == 5 ? wait.tv_nsec < 500 : wait.tv_sec == 4);
    timespec second{0, 1'000'000'000};
    want_result("ppoll with a second of nanoseconds", ppoll_event(event, second, 8), EINVAL);
    timespec none{};
    want_result("ppoll with a mask of 4 bytes", ppoll_event(event, none, 4), EINVAL);
}

void by_epoll() {
    Faults faults;
    const Event event{waking(1)};
    const Ring ring{event};
    const Event epoll = Event::adopt(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event entry{.events = EPOLLIN, .data = {.fd = event.fd()}};
    want_success("epoll_ctl", or_errno(::epoll_ctl(epoll.fd(), EPOLL_CTL_ADD, event.fd(), &entry)));
    event.enable();
    faults.cause(1);
    event.disable();
    epoll_event got{};
    want_equal("epoll_wait", ::epoll_wait(epoll.fd(), &got, 1, 0), 1);
    want_equal("its events", got.events, std::uint32_t{EPOLLIN});
    want_equal("epoll_wait again", ::epoll_wait(epoll.fd(), &got, 1, 0), 0);
}

/// The events that an epoll descriptor with one entry reports within 10 ms, or 0.
std::uint32_t poll_epoll(const Event& epoll) {
    epoll_event got{};
    return ::epoll_wait(epoll.fd(), &got, 1, 10) == 1 ? got.events : 0;
}

/// An epoll descriptor with the event as its only entry.
Event epoll_of(const Event& event, std::uint32_t wanted) {
    Event epoll = Event::adopt(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event entry{.events = wanted, .data = {.fd = event.fd()}};
    want_success("epoll_ctl", or_errno(::epoll_ctl(epoll.fd(), EPOLL_CTL_ADD, event.fd(), &entry)));
    return epoll;
}

void hup_by_epoll() {
    const Event event{waking(1)};
    const Event level = epoll_of(event, EPOLLIN);
    const Event none = epoll_of(event, 0);
    const Event edge = epoll_of(event, EPOLLIN | EPOLLET);
    const Event once = epoll_of(event, EPOLLIN | EPOLLONESHOT);
    for (const Event* epoll : {&level, &none, &edge, &once})
        want_equal("an event that was never mapped", poll_epoll(*epoll), std::uint32_t{EPOLLHUP});
    want_equal("the second epoll_wait", poll_epoll(level), std::uint32_t{EPOLLHUP});
    want_equal("the second epoll_wait, with no events requested", poll_epoll(none), std::uint32_t{EPOLLHUP});
    want_equal("the second epoll_wait with EPOLLET", poll_epoll(edge), 0U);
    want_equal("the second epoll_wait with EPOLLONESHOT", poll_epoll(once), 0U);
    const Ring ring{event};
    want_equal("with an empty ring", poll_epoll(level), 0U);
}

void exit_by_epoll() {
    Child child{{}};
    const Event event{waking(1), child.pid()};
    const Ring ring{event};
    const Event epoll = epoll_of(event, EPOLLIN);
    want_equal("before the task's exit", poll_epoll(epoll), 0U);
    child.join();
    want_equal("after the task's exit", poll_epoll(epoll) & EPOLLHUP, std::uint32_t{EPOLLHUP});
    want_equal("the second epoll_wait after the exit", poll_epoll(epoll) & EPOLLHUP, std::uint32_t{EPOLLHUP});
}

void epoll_with_other_descriptors() {
    const Event event{waking(1)};
    const Event epoll = epoll_of(event, EPOLLIN);
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0 || ::write(pipe[1], "x", 1) != 1) throw Failure{"pipe failed"};
    epoll_event entry{.events = EPOLLIN, .data = {.u64 = 77}};
    want_success("epoll_ctl", or_errno(::epoll_ctl(epoll.fd(), EPOLL_CTL_ADD, pipe[0], &entry)));
    std::array<epoll_event, 3> got{};
    want_equal("epoll_wait", ::epoll_wait(epoll.fd(), got.data(), 3, -1), 2);
    const std::size_t of_pipe = got[0].data.u64 == 77 ? 0 : 1;
    want_equal("events of the pipe", got[of_pipe].events, std::uint32_t{EPOLLIN});
    want_equal("events of the perf event", got[1 - of_pipe].events, std::uint32_t{EPOLLHUP});
}

void wakes_a_waiter() {
    Faults faults;
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(3); }}};
    const Event event{waking(1), child.pid()};
    const Ring ring{event};
    child.step();
    event.enable();
    child.step();
    want_equal("poll", poll_for(event, 10'000) & POLLIN, POLLIN);
}

void hup_without_ring() {
    const Event event{waking(1)};
    want_equal("poll of an event that was never mapped", poll_now(event), POLLHUP);
    {
        const Ring ring{event};
        want_equal("poll with an empty ring", poll_now(event), 0);
    }
    want_equal("poll after munmap", poll_now(event), POLLHUP);
}

void header_only() {
    const Event event{waking(1)};
    const Ring ring{event, 0};
    want_equal("poll", poll_now(event), 0);
}

void nothing_while_disabled_or_paused() {
    const Event event{waking(1)};
    const Ring ring{event};
    want_equal("poll of a disabled event", poll_now(event), 0);
    want_success("PAUSE_OUTPUT", event.ioctl(PERF_EVENT_IOC_PAUSE_OUTPUT, 1UL));
    want_equal("poll of a paused event", poll_now(event), 0);
}

void hup_at_exit() {
    Child child{{}};
    const Event event{waking(1), child.pid()};
    const Ring ring{event};
    want_equal("poll before", poll_now(event), 0);
    child.join();
    want_equal("poll after the task's exit", poll_now(event) & POLLHUP, POLLHUP);
    want_equal("the second poll after the exit", poll_now(event) & POLLHUP, POLLHUP);
}

void side_band(const Attr& attr, bool wakes_up) {
    const Event event{changed(attr, [](Attr& a) {
        a.comm = 1;
        a.disabled = 0;
    })};
    const Ring ring{event};
    poll_now(event);
    ::prctl(PR_SET_NAME, "woken");
    want_equal("poll after a COMM record", poll_now(event), wakes_up ? POLLIN : 0);
}

void last_overflow_of_refresh() {
    Faults faults;
    const Event event{waking(1)};
    const Ring ring{event};
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 1UL));
    faults.cause(2);
    want_equal("poll", poll_now(event), POLLIN);
}

}  // namespace

std::vector<Case> ring_wakeup_cases() {
    std::vector<Case> cases;
    cases.reserve(wakeup_rows().size());
    for (const Row& row : wakeup_rows()) cases.push_back({row.name, row.statement, kNothing, [&row] { check(row); }});
    append(cases,
           {
               {"events_0", "wakeup_events 0 means a watermark of half the ring", kNothing,
                [] { half_the_ring(waking(0)); }},
               {"watermark_0", "a watermark of 0 bytes means half the ring", kNothing,
                [] { half_the_ring(watermark(0)); }},
               {"watermark_huge", "a watermark above the ring's size means the ring's size", kNothing, above_the_ring},
               {"once", "poll reports a wake-up once", kNothing, once},
               {"select", "select reports a wake-up once", kNothing, by_select},
               {"select_micros", "select takes a million microseconds and more as seconds", kNothing,
                [] { by_select_with_microseconds(60'000'000, 0); }},
               {"select_negative", "select with microseconds below 0 is EINVAL", kNothing,
                [] { by_select_with_microseconds(-1, EINVAL); }},
               {"ppoll_ready", "ppoll of a ready event checks its arguments, and writes the remaining time", kNothing,
                ppoll_of_a_ready_event},
               {"epoll", "epoll reports a wake-up once", kNothing, by_epoll},
               {"epoll_hup",
                "without a ring each epoll_wait reports EPOLLHUP, but only the first with EPOLLET or EPOLLONESHOT",
                kNothing, hup_by_epoll},
               {"epoll_exit", "after the task's exit epoll reports EPOLLHUP", kNothing, exit_by_epoll},
               {"epoll_others", "epoll reports an event together with other descriptors", kNothing,
                epoll_with_other_descriptors},
               {"waiter", "an overflow in another process wakes a process that polls", kNothing, wakes_a_waiter},
               {"no_ring", "without a ring poll reports POLLHUP", kNothing, hup_without_ring},
               {"header_only", "with only the user page mapped poll reports nothing", kNothing, header_only},
               {"quiet", "poll reports nothing for a disabled or paused event", kNothing,
                nothing_while_disabled_or_paused},
               {"exit", "after the task's exit poll reports POLLHUP", kNothing, hup_at_exit},
               {"side_band_events", "records other than samples do not count for wakeup_events", kNothing,
                [] { side_band(waking(1), false); }},
               {"side_band_watermark", "records other than samples count for the watermark", kNothing,
                [] { side_band(watermark(1), true); }},
               {"refresh", "the last overflow of a REFRESH is reported as POLLIN, like any sample", kNothing,
                last_overflow_of_refresh},
           });
    return cases;
}

}  // namespace conformance
