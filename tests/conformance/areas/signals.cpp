// signals.cpp: signals at overflows: F_SETSIG, F_SETOWN and O_ASYNC ("Overflow handling" of the manual), and sigtrap.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <memory>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr int kSignal = 40;  // a real-time signal: each one is queued

/// The values that the handler has received.
struct ReceivedSignal {
    int number;
    int code;
    int fd;
    long band;
    void* address;
    pid_t tid;
    std::uint64_t data;
    std::uint32_t type;
    std::uint32_t flags;
    int error;
};

constexpr std::size_t kMaxSignals = 64;
ReceivedSignal seen[kMaxSignals];
volatile std::size_t count = 0;

/// The fields of siginfo_t after si_addr, as of Linux 5.18: si_perf_data, si_perf_type and si_perf_flags.
struct PerfInfo {
    std::uint64_t data;
    std::uint32_t type;
    std::uint32_t flags;
};

void handler(int number, siginfo_t* info, void*) {
    if (count >= kMaxSignals) return;
    ReceivedSignal& one = seen[count];
    one = {number, info->si_code, info->si_fd, info->si_band, info->si_addr, 0, 0, 0, 0, info->si_errno};
    if (number == SIGTRAP) {
        PerfInfo perf{};
        std::memcpy(&perf, reinterpret_cast<const char*>(info) + 24, sizeof perf);
        one.data = perf.data;
        one.type = perf.type;
        one.flags = perf.flags;
    }
    one.tid = thread_id();
    count = count + 1;
}

/// Installs the handler and resets the count.
void handle(int number) {
    count = 0;
    struct sigaction action{};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (::sigaction(number, &action, nullptr) != 0) throw Failure{"sigaction failed"};
}

Attr sampling(std::uint64_t period = 1) {
    return changed(page_faults(period), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
}

/// Lets the event send a signal to this thread; 0 means the default, SIGIO.
void notify(const Event& event, int number = kSignal) {
    handle(number == 0 ? SIGIO : number);
    if (number != 0) want_success("F_SETSIG", or_errno(::fcntl(event.fd(), F_SETSIG, number)));
    f_owner_ex owner{.type = F_OWNER_TID, .pid = thread_id()};
    want_success("F_SETOWN_EX", or_errno(::fcntl(event.fd(), F_SETOWN_EX, &owner)));
    want_success("F_SETFL", or_errno(::fcntl(event.fd(), F_SETFL, O_ASYNC)));
}

/// Causes faults while the event is enabled.
void cause_counted(const Event& event, Faults& faults, int times) {
    event.enable();
    faults.cause(times);
    event.disable();
}

void signal_per_overflow(bool with_ring) {
    Faults faults;
    const Event event{sampling(4)};
    notify(event);
    std::unique_ptr<Ring> ring;
    if (with_ring) ring = std::make_unique<Ring>(event);
    cause_counted(event, faults, 12);
    want_equal("signals", std::size_t{count}, 3U);
    want_equal("si_code", seen[0].code, POLL_IN);
    want_equal("si_fd", seen[0].fd, event.fd());
    want_equal("si_band", seen[0].band, long{POLLIN | POLLRDNORM});
}

void sigio() {
    Faults faults;
    const Event event{sampling()};
    notify(event, 0);
    cause_counted(event, faults, 1);
    want_at_least("signals", std::size_t{count}, 1U);
    want_equal("the signal", seen[0].number, SIGIO);
}

void refresh_hup(unsigned long overflows) {
    Faults faults;
    const Event event{sampling(2)};
    notify(event);
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, overflows));
    faults.cause(20);
    want_equal("signals", std::size_t{count}, overflows);
    for (std::size_t i = 0; i + 1 < overflows; ++i) want_equal("si_code", seen[i].code, POLL_IN);
    want_equal("si_code of the last", seen[overflows - 1].code, POLL_HUP);
    want_equal("count", event.count(), 2 * overflows);
}

void by_fioasync() {
    Faults faults;
    const Event event{sampling()};
    notify(event);
    for (int on : {0, 1}) {
        count = 0;
        want_success("FIOASYNC", or_errno(::ioctl(event.fd(), FIOASYNC, &on)));
        want_equal("O_ASYNC", ::fcntl(event.fd(), F_GETFL) & O_ASYNC, on != 0 ? O_ASYNC : 0);
        cause_counted(event, faults, 2);
        want_equal("whether there are signals", count != 0, on != 0);
    }
}

void wakeup_events_ignored() {
    Faults faults;
    const Event event{changed(sampling(), [](Attr& a) { a.wakeup_events = 1000; })};
    const Ring ring{event};
    notify(event);
    cause_counted(event, faults, 5);
    want_equal("signals", std::size_t{count}, 5U);
}

void async_cleared() {
    Faults faults;
    const Event event{sampling()};
    notify(event);
    cause_counted(event, faults, 2);
    const std::size_t before = count;
    want_success("F_SETFL", or_errno(::fcntl(event.fd(), F_SETFL, 0)));
    cause_counted(event, faults, 5);
    want_equal("signals after O_ASYNC is cleared", count - before, 0U);
}

void not_for_counting() {
    Faults faults;
    const Event event{page_faults()};
    notify(event);
    cause_counted(event, faults, 5);
    want_equal("signals", std::size_t{count}, 0U);
}

void to_a_process() {
    Faults faults;
    const Event event{sampling()};
    notify(event);
    want_success("F_SETOWN", or_errno(::fcntl(event.fd(), F_SETOWN, ::getpid())));
    cause_counted(event, faults, 2);
    want_equal("signals", std::size_t{count}, 2U);
}

/// The owner is this process's group, by F_SETOWN or F_SETOWN_EX. Another process of the group waits for the signal.
void to_a_group(bool extended) {
    Faults faults;
    want_success("setpgid", or_errno(::setpgid(0, 0)));
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, kSignal);
    ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
    const pid_t member = ::fork();
    const timespec limit{10, 0};
    if (member == 0) ::_exit(::sigtimedwait(&awaited, nullptr, &limit) == kSignal ? 0 : 1);
    const Event event{sampling()};
    notify(event);
    const f_owner_ex owner{.type = F_OWNER_PGRP, .pid = ::getpgrp()};
    want_success("the owner", or_errno(extended ? ::fcntl(event.fd(), F_SETOWN_EX, &owner)
                                                : ::fcntl(event.fd(), F_SETOWN, -::getpgrp())));
    cause_counted(event, faults, 1);
    want_equal("the signal of this process", ::sigtimedwait(&awaited, nullptr, &limit), kSignal);
    int status = -1;
    ::waitpid(member, &status, 0);
    want_equal("status of the other member", status, 0);
}

void of_another_process() {
    Faults faults;
    Child child{{[&] { faults.cause(1); }, [&] { faults.cause(3); }}};
    const Event event{sampling(), child.pid()};
    child.step();
    notify(event);
    event.enable();
    child.step();
    event.disable();
    want_at_least("signals", std::size_t{count}, 3U);
    want_equal("si_fd", seen[0].fd, event.fd());
    want_equal("si_code", seen[0].code, POLL_IN);
    want_equal("si_band", seen[0].band, long{POLLIN | POLLRDNORM});
}

/// Makes the kernel give a new process this id; skips the case where that is not permitted.
void reuse_id(pid_t pid) {
    if (write_to("/proc/sys/kernel/ns_last_pid", std::to_string(pid - 1)) != 0)
        throw Skip{"the next process's id can't be chosen"};
}

void owner_replaced() {
    Faults faults;
    const Event event{sampling()};
    pid_t owner = 0;
    {
        const Child first{{}};
        owner = first.pid();
        notify(event);
        want_success("F_SETOWN", or_errno(::fcntl(event.fd(), F_SETOWN, owner)));
    }
    // Two processes that began in the same clock tick could not be told apart.
    ::usleep(50'000);
    for (int i = 0; i < 10; ++i) {
        reuse_id(owner);
        Child second{{[] { ::_exit(count == 0 ? 0 : 1); }}};
        if (second.pid() != owner) continue;
        cause_counted(event, faults, 3);
        second.last_step();
        want_equal("status of the process that has the owner's id", second.join(), 0);
        return;
    }
    throw Skip{"no process has got the id"};
}

void to_the_thread() {
    Faults faults;
    in_thread([&] {
        const Event event{sampling()};
        notify(event);
        cause_counted(event, faults, 3);
        want_at_least("signals", std::size_t{count}, 3U);
        want_equal("the thread that runs the handler", seen[0].tid, thread_id());
    });
}

std::uint64_t watched = 0;

Attr trapping() {
    return changed(watchpoint(&watched, 8, 2, 1), [](Attr& a) {
        a.sigtrap = a.remove_on_exec = 1;
        a.sig_data = 0x1234567890abcdefU;
        a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
    });
}

void sigtrap() {
    handle(SIGTRAP);
    const Event event{trapping()};
    event.enable();
    store(watched, 3);
    event.disable();
    want_equal("signals", std::size_t{count}, 3U);
    want_equal("si_code: TRAP_PERF", seen[0].code, 6);
    want_equal("si_addr", seen[0].address, static_cast<void*>(&watched));
    want_equal("si_perf_data", seen[0].data, 0x1234567890abcdefU);
    want_equal("si_perf_type", seen[0].type, std::uint32_t{PERF_TYPE_BREAKPOINT});
    want_equal("si_perf_flags", seen[0].flags, 0U);
    want_equal("si_errno", seen[0].error, 0);
}

void sigtrap_at_once() {
    handle(SIGTRAP);
    const Event event{trapping()};
    event.enable();
    for (std::size_t i = 1; i <= 5; ++i) {
        store(watched);
        want_equal("signals right after the store", std::size_t{count}, i);
    }
    event.disable();
}

void sigtrap_and_ring() {
    handle(SIGTRAP);
    const Event event{trapping()};
    Ring ring{event};
    event.enable();
    store(watched, 2);
    event.disable();
    want_equal("signals", std::size_t{count}, 2U);
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 2U);
}

void sigtrap_blocked() {
    handle(SIGTRAP);
    sigset_t traps;
    ::sigemptyset(&traps);
    ::sigaddset(&traps, SIGTRAP);
    ::sigprocmask(SIG_BLOCK, &traps, nullptr);
    const Event event{trapping()};
    event.enable();
    store(watched, 3);
    event.disable();
    want_equal("signals while blocked", std::size_t{count}, 0U);
    ::sigprocmask(SIG_UNBLOCK, &traps, nullptr);
    want_equal("signals after unblocking", std::size_t{count}, 1U);
    want_equal("si_perf_flags: asynchronous", seen[0].flags, 1U);
}

void sigtrap_kills() {
    const int status = in_child([] {
        const Event event{trapping()};
        event.enable();
        store(watched);
    });
    want("a signal ends the process", WIFSIGNALED(status));
    want_equal("the signal", WTERMSIG(status), SIGTRAP);
}

void sigtrap_after_period() {
    handle(SIGTRAP);
    const Event event{trapping()};
    event.enable();
    store(watched, 2);
    std::uint64_t period = 3;
    want_success("PERIOD", event.ioctl(PERF_EVENT_IOC_PERIOD, &period));
    want_equal("signals before PERIOD", std::size_t{count}, 2U);
    store(watched, 1);
    want_equal("signals after the store at which the old and the new period end", std::size_t{count}, 3U);
    store(watched, 9);
    want_equal("signals after nine more stores", std::size_t{count}, 6U);
}

void sigtrap_ignored() {
    const int status = in_child([] {
        ::signal(SIGTRAP, SIG_IGN);
        const Event event{trapping()};
        event.enable();
        store(watched, 2);
        if (event.count() != 2) throw Failure{"expected that both stores are counted"};
    });
    want_equal("status", status, 0);
}

void sigtrap_on_another_process() {
    Child child{{[] { handle(SIGTRAP); },
                 [] {
                     store(watched, 2);
                     if (count != 2) throw Failure{"expected that the process receives its signals"};
                 }}};
    child.step();
    const Event event{trapping(), child.pid()};
    event.enable();
    child.step();
    want_equal("signals in the opener's process", std::size_t{count}, 0U);
    want_equal("count", event.count(), 2U);
}

void sigtrap_has_the_address() {
    handle(SIGTRAP);
    constexpr std::size_t kPage = 4096;
    auto* const memory =
        static_cast<volatile char*>(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const Event event{changed(page_faults(1), [](Attr& a) { a.sigtrap = a.remove_on_exec = 1; })};
    event.enable();
    memory[100] = 1;
    event.disable();
    want_at_least("signals", std::size_t{count}, 1U);
    want("si_addr is the address of the fault", seen[0].address == const_cast<char*>(memory) + 100);
    ::munmap(const_cast<char*>(memory), kPage);
}

void sigtrap_on_faults() {
    Faults faults;
    handle(SIGTRAP);
    const Event event{changed(page_faults(1), [](Attr& a) {
        a.sigtrap = a.remove_on_exec = 1;
        a.sig_data = 7;
    })};
    event.enable();
    faults.cause(2);
    event.disable();
    want_at_least("signals", std::size_t{count}, 2U);
    want_equal("si_perf_type", seen[0].type, std::uint32_t{PERF_TYPE_SOFTWARE});
    want_equal("si_perf_data", seen[0].data, 7U);
}

}  // namespace

std::vector<Case> signal_cases() {
    return {
        {"setsig", "after F_SETSIG each overflow sends a signal with POLL_IN, the descriptor and the band", kNothing,
         [] { signal_per_overflow(true); }},
        {"setsig_no_ring", "after F_SETSIG each overflow sends a signal without a ring, too", kNothing,
         [] { signal_per_overflow(false); }},
        {"sigio", "without F_SETSIG the signal is SIGIO", kNothing, sigio},
        {"refresh_1", "REFRESH 1 sends one signal with POLL_HUP", kNothing, [] { refresh_hup(1); }},
        {"refresh_3", "REFRESH 3 sends signals with POLL_IN, POLL_IN and POLL_HUP", kNothing, [] { refresh_hup(3); }},
        {"wakeup_events", "each overflow sends a signal, whatever wakeup_events is", kNothing, wakeup_events_ignored},
        {"fioasync", "the ioctl FIOASYNC sets and clears O_ASYNC", kNothing, by_fioasync},
        {"cleared", "clearing O_ASYNC stops the signals", kNothing, async_cleared},
        {"counting", "a counting event sends no signals", kNothing, not_for_counting},
        {"setown", "after F_SETOWN the signals go to that process", kNothing, to_a_process},
        {"setown_group", "after F_SETOWN with a group every process of the group gets a signal", kNothing,
         [] { to_a_group(false); }},
        {"setown_ex_group", "after F_SETOWN_EX with F_OWNER_PGRP every process of the group gets a signal", kNothing,
         [] { to_a_group(true); }},
        {"other_process", "overflows in another process send signals to the owner", kNothing, of_another_process},
        {"owner_replaced", "a process that has the id of an owner that has ended gets no signal", kRoot,
         owner_replaced},
        {"thread", "after F_SETOWN_EX with F_OWNER_TID the signals go to that thread", kNothing, to_the_thread},
        {"sigtrap", "sigtrap sends SIGTRAP with TRAP_PERF, the address, sig_data and type", kBreakpoint, sigtrap},
        {"sigtrap_at_once", "sigtrap is synchronous: the signal is delivered right after the instruction", kBreakpoint,
         sigtrap_at_once},
        {"sigtrap_ring", "an event with sigtrap also writes samples", kBreakpoint, sigtrap_and_ring},
        {"sigtrap_blocked", "while SIGTRAP is blocked, one signal becomes pending, marked asynchronous", kBreakpoint,
         sigtrap_blocked},
        {"sigtrap_period", "an event that overflows twice at once traps once", kBreakpoint, sigtrap_after_period},
        {"sigtrap_kills", "a SIGTRAP of sigtrap without a handler kills the process", kBreakpoint, sigtrap_kills},
        {"sigtrap_ignored", "an ignored SIGTRAP of sigtrap is dropped", kBreakpoint, sigtrap_ignored},
        {"sigtrap_other", "sigtrap on another process sends the signal to that process", kBreakpoint,
         sigtrap_on_another_process},
        {"sigtrap_address", "the si_addr of a sigtrap for page faults is the address of the fault", kNothing,
         sigtrap_has_the_address},
        {"sigtrap_software", "sigtrap works with a software event", kNothing, sigtrap_on_faults},
    };
}

}  // namespace conformance
