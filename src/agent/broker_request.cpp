// broker_request.cpp: the program's side of the protocol that run/protocol.h explains. transmit() is the first of its
// steps, wait() and sleep() are the last. sendmsg(2) reads the payload where it is, so the agent does not copy it.
#include "agent/broker_request.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "agent/clocks.h"
#include "agent/process.h"
#include "agent/thread_switches.h"
#include "agent/vdso_calls.h"
#include "engine/freestanding/pages.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/turns.h"
#include "engine/turns/wakes.h"
#include "subsystem/records/record_interests.h"

namespace anyperf::agent {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;

namespace {

/// How many times a thread polls its mailbox before it sleeps: a broker on another CPU answers sooner than the kernel
/// could wake the thread.
constexpr int kPolls = 400;

/// 0 if the last answer was written on `cpu`, the CPU of this thread. The broker will probably run there again, and it
/// cannot while the thread polls.
int polls_for(const run::Mailbox& mailbox, std::int32_t cpu) {
    const std::uint32_t host_cpu = __atomic_load_n(&mailbox.host_cpu, __ATOMIC_RELAXED);
    return host_cpu == static_cast<std::uint32_t>(cpu) + 1 ? 0 : kPolls;
}

/// How long a sleeping thread waits before it checks that the broker still runs, and how often it does so before it
/// gives up: after 20 seconds in all. A wild store of the program may have overwritten the answer, or the tid in the
/// thread page, by which the broker recognises the sender; then no answer comes. A request of a program without such a
/// bug never takes the broker that long.
constexpr long kPatienceNs = 200'000'000;
constexpr int kMostSilences = 100;

/// Maps the thread's mailbox if it is not mapped. False if the thread has no page, or if the kernel refuses.
bool open_mailbox(Thread& thread) {
    if (thread.agent->mailbox != nullptr) return true;
    if (thread.page_number == run::kNoPage) return false;
    const std::uint64_t offset = run::kMailboxesOffset + run::kMailboxBytes * std::uint64_t{thread.page_number};
    const long got =
        engine::map_own_pages(run::kMailboxBytes, PROT_READ | PROT_WRITE, MAP_SHARED, thread.engine->run_fd, offset);
    if (is_error(got)) return false;
    thread.agent->mailbox = engine::at_address<run::Mailbox>(static_cast<std::uint64_t>(got));
    return true;
}

/// The number of the next request. It differs from the number of the last answer, and from the numbers that the page's
/// previous thread used: the broker may still answer a request of that thread after the thread was killed. A thread id
/// has 22 bits (PID_MAX_LIMIT). Threads of two pid namespaces may have the same id; then only the counter distinguishes
/// their requests.
std::uint32_t next_sequence(const run::Mailbox& mailbox, std::int32_t tid) {
    constexpr unsigned kCounterBits = 10;
    constexpr std::uint32_t kCounter = (1U << kCounterBits) - 1;
    const std::uint32_t last = __atomic_load_n(&mailbox.answered, __ATOMIC_RELAXED);
    return static_cast<std::uint32_t>(tid) << kCounterBits | ((last + 1) & kCounter);
}

/// The CPU that requests report: always 0 in a deterministic run.
int cpu_of(const Thread& thread) {
    return thread.engine->run->deterministic != 0 ? 0 : running_cpu(*thread.engine);
}

/// Whether the thread looks at its events before its next instruction, because its budget is exhausted: one of them may
/// be about to take a sample, as during a system call that ended a period.
bool is_overflow_due(const Thread& thread) {
    return thread.engine->counting.budgeted && thread.page.counters.remaining() <= 0;
}

/// The CPU for the head of a request. A move switches events of the former CPU off. So while one of them may be about
/// to take a sample, requests have the former CPU, and the move is reported afterwards (grant_next_budget()).
int cpu_to_report(const Thread& thread) {
    const int cpu = cpu_of(thread);
    if (cpu == thread.page.cpu || thread.page.cpu < 0 || !is_overflow_due(thread)) return cpu;
    thread.agent->moved_unreported = true;
    return thread.page.cpu;
}

/// Context switches of the calling thread, the engine's included.
std::uint64_t all_context_switches(const Thread& thread) {
    const Switches all = switches_of(thread);
    return all.voluntary + all.involuntary;
}

/// Whether an event of the run counts context switches.
bool are_switches_counted(const engine::Engine& engine) {
    return (__atomic_load_n(&engine.run->wanted_side_band, __ATOMIC_ACQUIRE) & subsystem::kWantsSwitchCounts) != 0;
}

/// Those that are the program's: without the thread's waits for the broker. The number never falls.
std::uint64_t of_program(const Thread& thread, std::uint64_t all) {
    const std::uint64_t own = thread.page.own_switches;
    return std::max(all > own ? all - own : 0, __atomic_load_n(&thread.page.switches_read, __ATOMIC_RELAXED));
}

/// Whether a request of this kind may make the descriptor of an event ready, by a record or by the end of a task. The
/// others only ask.
bool may_make_ready(run::RequestKind kind) {
    return kind != run::RequestKind::poll && kind != run::RequestKind::read && kind != run::RequestKind::identify;
}

}  // namespace

bool are_events_used(const engine::Engine& engine) {
    return has_broker(engine) && __atomic_load_n(&engine.run->events_used, __ATOMIC_ACQUIRE) != 0;
}

bool broker_is_gone(const engine::Engine& engine) {
    // The socket's other end is closed when the broker is gone.
    pollfd socket{engine.broker_fd, 0, 0};
    const timespec at_once{};
    const long got = kernel_call(__NR_ppoll, address_of(&socket), 1, address_of(&at_once), 0, 0);
    return got == 1 && (socket.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

void report_if_moved(Thread& thread) {
    const engine::Engine& engine = *thread.engine;
    if (!are_events_used(engine)) return;
    // Every request carries the CPU of its thread. This one asks about inode 0, which no event has: only the CPU
    // matters.
    if (cpu_of(thread) != thread.page.cpu) BrokerRequest{thread, run::RequestKind::identify}.send();
}

std::uint64_t context_switches(const Thread& thread) {
    return of_program(thread, all_context_switches(thread));
}

void drop_mailbox(Thread& thread) {
    if (thread.agent->mailbox != nullptr) engine::release_pages(thread.agent->mailbox, run::kMailboxBytes);
    thread.agent->mailbox = nullptr;
}

BrokerRequest::BrokerRequest(Thread& thread, run::RequestKind kind, std::uint32_t event) : thread_(thread) {
    head_.kind = kind;
    head_.event = event;
    head_.page = thread.page_number;
    head_.tid = thread.tid;
}

BrokerRequest& BrokerRequest::payload(const void* bytes, std::size_t count) {
    return from_application(address_of(bytes), count);
}

BrokerRequest& BrokerRequest::from_application(std::uint64_t address, std::size_t count) {
    payload_ = address;
    head_.payload_bytes = static_cast<std::uint32_t>(count < run::kRequestPayload ? count : run::kRequestPayload);
    return *this;
}

long BrokerRequest::transmit() {
    // The broker reads the run's clock for the times of its records.
    if (engine::has_virtual_clock(*thread_.engine)) engine::look_at_clock(thread_);
    head_.task_clock = task_clock(thread_);
    // An open may be that of the run's first event that counts switches. It begins to count from here.
    if (head_.kind == run::RequestKind::open || are_switches_counted(*thread_.engine)) {
        switches_before_ = all_context_switches(thread_);
        head_.switches = of_program(thread_, *switches_before_);
    }
    head_.cpu = cpu_to_report(thread_);
    iovec parts[2]{{&head_, sizeof head_}, {engine::at_address<void>(payload_), head_.payload_bytes}};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = head_.payload_bytes != 0 ? 2 : 1;
    if (descriptor_ >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor_, sizeof descriptor_);
    }
    for (;;) {
        const long got = kernel_call(__NR_sendmsg, static_cast<unsigned>(thread_.engine->broker_fd),
                                     address_of(&message), MSG_NOSIGNAL);
        // The payload may be in memory that the application has unmapped: the request is sent again without it.
        if (got == -EFAULT && head_.payload_bytes != 0) {
            head_.payload_bytes = 0;
            message.msg_iovlen = 1;
            continue;
        }
        if (got != -EINTR) return is_error(got) ? -EIO : 0;
    }
}

long BrokerRequest::wait() {
    run::Mailbox& mailbox = *thread_.agent->mailbox;
    const auto answered = [&] { return __atomic_load_n(&mailbox.answered, __ATOMIC_ACQUIRE) == head_.sequence; };
    const int cpu = thread_.engine->run->deterministic != 0 ? running_cpu(*thread_.engine) : head_.cpu;
    for (int polls = polls_for(mailbox, cpu); polls > 0; --polls) {
        if (answered()) return mailbox.answer;
        asm volatile("pause");
    }
    // The broker waits for no thread's turn, so the thread need not give it away.
    if (engine::turns::on(*thread_.engine)) engine::turns::hold_on(thread_, true);
    const long answer = sleep();
    if (engine::turns::on(*thread_.engine)) engine::turns::hold_on(thread_, false);
    // The program did not ask to wait. So events that count context switches leave these out.
    if (switches_before_ && are_switches_counted(*thread_.engine))
        thread_.page.own_switches += all_context_switches(thread_) - *switches_before_;
    return answer;
}

long BrokerRequest::sleep() {
    run::Mailbox& mailbox = *thread_.agent->mailbox;
    const auto answered = [&] { return __atomic_load_n(&mailbox.answered, __ATOMIC_ACQUIRE) == head_.sequence; };
    __atomic_store_n(&mailbox.waiting, 1, __ATOMIC_SEQ_CST);
    int silences = 0;
    for (;;) {
        // The futex wait ends at any change of the number: it may be the answer to the page's previous thread.
        const std::uint32_t seen = __atomic_load_n(&mailbox.answered, __ATOMIC_ACQUIRE);
        if (seen == head_.sequence) return mailbox.answer;
        const timespec patience{0, kPatienceNs};
        const long got =
            kernel_call(__NR_futex, address_of(&mailbox.answered), FUTEX_WAIT, seen, address_of(&patience));
        if (got != -EAGAIN) ++thread_.agent->waits_since_switch;
        if (got != -ETIMEDOUT || answered()) continue;  // the next round returns the answer
        if (broker_is_gone(*thread_.engine) || ++silences == kMostSilences) return -EIO;
    }
}

long BrokerRequest::send() {
    if (!has_broker(*thread_.engine) || !open_mailbox(thread_)) return -EIO;
    run::Mailbox& mailbox = *thread_.agent->mailbox;
    __atomic_store_n(&mailbox.waiting, 0, __ATOMIC_RELAXED);
    head_.sequence = next_sequence(mailbox, thread_.tid);
    Process* const process = existing_process(*thread_.engine);
    const std::uint32_t closes = process != nullptr ? __atomic_load_n(&process->close_count, __ATOMIC_ACQUIRE) : 0;
    const long sent = transmit();
    if (sent < 0) return sent;
    const long answer = wait();
    if (process != nullptr) __atomic_store_n(&process->closes_seen_by_broker, closes, __ATOMIC_RELAXED);
    wake_waiters();
    return answer;
}

/// Threads that take turns, and wait for a descriptor of an event, look again.
void BrokerRequest::wake_waiters() const {
    engine::Engine& engine = *thread_.engine;
    if (!engine::turns::on(engine) || !may_make_ready(head_.kind)) return;
    if (engine::turns::any_descriptor_waiter(engine)) engine::turns::wake_descriptors(engine, ~std::uint64_t{0});
}

void BrokerRequest::post() {
    if (has_broker(*thread_.engine)) transmit();
}

}  // namespace anyperf::agent
