// request.cpp: see request.h.
#include "resident/request.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "engine/freestanding/pages.h"
#include "engine/ledger.h"
#include "resident/process.h"

extern "C" void* memcpy(void* to, const void* from, std::size_t count);

namespace anyperf::resident {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;

namespace {

/// How often to look at the mailbox before sleeping: a broker on another CPU answers sooner than the kernel wakes. One
/// that answered last on this CPU will mostly run here again, and can't while this thread looks.
constexpr int kLooks = 400;

int looks_for(const Mailbox& mailbox, std::int32_t cpu) {
    const std::uint32_t host_cpu = __atomic_load_n(&mailbox.host_cpu, __ATOMIC_RELAXED);
    return host_cpu == static_cast<std::uint32_t>(cpu) + 1 ? 0 : kLooks;
}

bool open_mailbox(Thread& thread) {
    if (thread.mailbox != nullptr) return true;
    if (thread.page_number == engine::kNoPage) return false;
    const std::uint64_t offset = kMailboxesOffset + kMailboxBytes * std::uint64_t{thread.page_number};
    const long got =
        engine::map_own_pages(0, kMailboxBytes, PROT_READ | PROT_WRITE, MAP_SHARED, thread.engine->run_fd, offset);
    if (is_error(got)) return false;
    thread.mailbox = engine::at_address<void>(static_cast<std::uint64_t>(got));
    return true;
}

/// The socket's other end is closed when the broker is gone.
bool broker_is_gone(const engine::Engine& engine) {
    pollfd socket{engine.broker_fd, 0, 0};
    const timespec at_once{};
    const long got = kernel_call(__NR_ppoll, address_of(&socket), 1, address_of(&at_once), 0, 0);
    return got == 1 && (socket.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

int cpu_of(const Thread& thread) {
    if (thread.engine->run->deterministic != 0) return 0;
    std::uint32_t cpu = 0;
    kernel_call(__NR_getcpu, address_of(&cpu), 0, 0);
    return static_cast<int>(cpu);
}

}  // namespace

void tell_if_moved(Thread& thread) {
    const engine::Engine& engine = *thread.engine;
    if (!hosted(engine) || __atomic_load_n(&engine.run->events_used, __ATOMIC_ACQUIRE) == 0) return;
    // Every request says where its thread runs; this one asks for nothing else.
    if (cpu_of(thread) != thread.page.cpu) Ask{thread, RequestKind::identify}.send();
}

std::uint64_t task_clock() {
    timespec now{};
    kernel_call(__NR_clock_gettime, CLOCK_THREAD_CPUTIME_ID, address_of(&now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void drop_mailbox(Thread& thread) {
    if (thread.mailbox != nullptr) engine::release_pages(thread.mailbox, kMailboxBytes);
    thread.mailbox = nullptr;
}

Ask::Ask(Thread& thread, RequestKind kind, std::uint32_t event) : thread_(thread) {
    head_.kind = kind;
    head_.event = event;
    head_.page = thread.page_number;
    head_.pid = thread.page.pid;
    head_.tid = thread.tid;
}

Ask& Ask::payload(const void* bytes, std::size_t count) {
    payload_ = address_of(bytes);
    head_.payload_bytes = static_cast<std::uint32_t>(count < kRequestPayload ? count : kRequestPayload);
    return *this;
}

Ask& Ask::from_application(std::uint64_t address, std::size_t count) {
    payload_ = address;
    head_.payload_bytes = static_cast<std::uint32_t>(count < kRequestPayload ? count : kRequestPayload);
    return *this;
}

long Ask::transmit() {
    head_.task_clock = task_clock();
    head_.cpu = cpu_of(thread_);
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
        if (got == -EFAULT && head_.payload_bytes != 0) {  // the application's pointer: nothing can be read there
            head_.payload_bytes = 0;
            message.msg_iovlen = 1;
            continue;
        }
        if (got != -EINTR) return is_error(got) ? -EIO : 0;
    }
}

long Ask::wait() {
    auto& mailbox = *static_cast<Mailbox*>(thread_.mailbox);
    const auto answered = [&] { return __atomic_load_n(&mailbox.answered, __ATOMIC_ACQUIRE) == head_.sequence; };
    for (int looks = looks_for(mailbox, head_.cpu); looks > 0; --looks) {
        if (answered()) return mailbox.answer;
        asm volatile("pause");
    }
    __atomic_store_n(&mailbox.waiting, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        // Whatever stands there: who had the page before may have left, or still be given, an answer of its own.
        const std::uint32_t seen = __atomic_load_n(&mailbox.answered, __ATOMIC_ACQUIRE);
        if (seen == head_.sequence) return mailbox.answer;
        const timespec patience{0, 200'000'000};  // to notice that nobody will answer any more
        const long got =
            kernel_call(__NR_futex, address_of(&mailbox.answered), FUTEX_WAIT, seen, address_of(&patience));
        if (got != -EAGAIN) ++thread_.own_waits;
        if (got == -ETIMEDOUT && !answered() && broker_is_gone(*thread_.engine)) return -EIO;
    }
}

long Ask::send() {
    if (!hosted(*thread_.engine) || !open_mailbox(thread_)) return -EIO;
    auto& mailbox = *static_cast<Mailbox*>(thread_.mailbox);
    __atomic_store_n(&mailbox.waiting, 0, __ATOMIC_RELAXED);
    head_.sequence = __atomic_load_n(&mailbox.answered, __ATOMIC_RELAXED) + 1;
    Process* const process = known_process(*thread_.engine);
    const std::uint32_t closes = process != nullptr ? __atomic_load_n(&process->closes, __ATOMIC_ACQUIRE) : 0;
    const long sent = transmit();
    if (sent < 0) return sent;
    const long answer = wait();
    if (process != nullptr) __atomic_store_n(&process->closes_told, closes, __ATOMIC_RELAXED);
    return answer;
}

void Ask::tell() {
    if (hosted(*thread_.engine)) transmit();
}

}  // namespace anyperf::resident
