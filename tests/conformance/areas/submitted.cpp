// submitted.cpp: requests on an event's descriptor that a program submits instead of making a system call: rings of
// io_uring(7), and io_submit(2). An event is an anonymous inode with read, poll and ioctl (perf_fops of
// kernel/events/core.c).
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// A ring of io_uring with few entries, used by one thread.
class Queue {
  public:
    Queue() : fd_{static_cast<int>(::syscall(SYS_io_uring_setup, kEntries, &made_))} {
        if (fd_ < 0) throw Skip{"io_uring is not permitted: " + errno_name(errno)};
        submissions_ = map(made_.sq_off.array + made_.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
        completions_ = map(made_.cq_off.cqes + made_.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
        requests_ = map(made_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
    }
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    ~Queue() { ::close(fd_); }

    /// Submits the request, without waiting for it.
    void submit(const io_uring_sqe& request) {
        unsigned& tail = word(submissions_, made_.sq_off.tail);
        const unsigned index = tail & word(submissions_, made_.sq_off.ring_mask);
        std::memcpy(requests_ + index * sizeof request, &request, sizeof request);
        word(submissions_, made_.sq_off.array + index * sizeof(unsigned)) = index;
        __atomic_store_n(&tail, tail + 1, __ATOMIC_RELEASE);
        want_equal("submitted requests", or_errno(::syscall(SYS_io_uring_enter, fd_, 1, 0, 0, nullptr, 0)), 1);
    }

    /// Whether a request has been completed that result() has not returned.
    bool is_complete() {
        return __atomic_load_n(&word(completions_, made_.cq_off.tail), __ATOMIC_ACQUIRE) !=
               word(completions_, made_.cq_off.head);
    }

    /// Waits for the next completed request. Returns its result.
    int result() {
        while (!is_complete())
            want_success("io_uring_enter",
                         or_errno(::syscall(SYS_io_uring_enter, fd_, 0, 1, IORING_ENTER_GETEVENTS, nullptr, 0)));
        unsigned& head = word(completions_, made_.cq_off.head);
        const unsigned index = head & word(completions_, made_.cq_off.ring_mask);
        io_uring_cqe done{};
        std::memcpy(&done, completions_ + made_.cq_off.cqes + index * sizeof done, sizeof done);
        __atomic_store_n(&head, head + 1, __ATOMIC_RELEASE);
        return done.res;
    }

    /// Submits the request and waits for its result.
    int result_of(const io_uring_sqe& request) {
        submit(request);
        return result();
    }

  private:
    static constexpr unsigned kEntries = 4;

    char* map(std::size_t bytes, std::uint64_t offset) const {
        void* const memory =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, static_cast<off_t>(offset));
        if (memory == MAP_FAILED) throw Failure{"mmap of the ring failed"};
        return static_cast<char*>(memory);
    }
    static unsigned& word(char* memory, std::size_t offset) { return *reinterpret_cast<unsigned*>(memory + offset); }

    io_uring_params made_{};
    int fd_;
    char* submissions_ = nullptr;
    char* completions_ = nullptr;
    char* requests_ = nullptr;
};

io_uring_sqe request_on(int fd, std::uint8_t operation, const void* buffer = nullptr, std::size_t bytes = 0) {
    io_uring_sqe request{};
    request.opcode = operation;
    request.fd = fd;
    request.addr = reinterpret_cast<std::uintptr_t>(buffer);
    request.len = static_cast<std::uint32_t>(bytes);
    return request;
}

io_uring_sqe poll_request(const Event& event, std::uint32_t events) {
    io_uring_sqe request = request_on(event.fd(), IORING_OP_POLL_ADD);
    request.poll32_events = events;
    return request;
}

Attr waking() {
    return changed(page_faults(1), [](Attr& a) { a.wakeup_events = 1; });
}

void cause_sample(const Event& event, Faults& faults) {
    event.enable();
    faults.cause(1);
    event.disable();
}

void read_gives_the_count() {
    Faults faults;
    Queue queue;
    const Event event{page_faults()};
    event.enable();
    faults.cause(7);
    event.disable();
    std::uint64_t value = 0;
    want_equal("read", queue.result_of(request_on(event.fd(), IORING_OP_READ, &value, sizeof value)), 8);
    want_equal("the count", value, 7U);
    value = 0;
    iovec vector{&value, sizeof value};
    want_equal("readv", queue.result_of(request_on(event.fd(), IORING_OP_READV, &vector, 1)), 8);
    want_equal("the count", value, 7U);
}

void read_of_a_group() {
    Queue queue;
    const Event leader{changed(dummy(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID; })};
    const Event member =
        sibling(changed(dummy(), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID; }), leader);
    std::array<std::uint64_t, 8> words{};
    want_equal("read", queue.result_of(request_on(leader.fd(), IORING_OP_READ, words.data(), sizeof words)), 40);
    want_equal("members", words[0], 2U);
    want_equal("the first id", words[2], leader.id());
    want_equal("the second id", words[4], member.id());
}

void poll_without_ring() {
    Queue queue;
    const Event event{waking()};
    want_equal("poll", queue.result_of(poll_request(event, POLLIN | POLLOUT)), POLLHUP);
}

void poll_after_wakeup() {
    Faults faults;
    Queue queue;
    const Event event{waking()};
    const Ring ring{event};
    cause_sample(event, faults);
    want_equal("poll", queue.result_of(poll_request(event, POLLIN | POLLOUT)), POLLIN);
}

void poll_waits() {
    Faults faults;
    Queue queue;
    const Event event{waking()};
    const Ring ring{event};
    queue.submit(poll_request(event, POLLIN | POLLOUT));
    want("nothing is complete before the wake-up", !queue.is_complete());
    cause_sample(event, faults);
    want_equal("poll", queue.result(), POLLIN);
}

void close_closes() {
    Queue queue;
    Event event{dummy()};
    const int fd = event.fd();
    want_equal("close", queue.result_of(request_on(fd, IORING_OP_CLOSE)), 0);
    want_result("fcntl", or_errno(::fcntl(fd, F_GETFD)), EBADF);
    std::array<int, 2> pipe{};
    want_success("pipe", or_errno(::pipe(pipe.data())));
    want_equal("the number is free", pipe[0], fd);
    want_success("write", or_errno(::write(pipe[1], "x", 1)));
    char byte = 0;
    want_equal("read of the file that has the number now", or_errno(::read(fd, &byte, 1)), 1);
    ::close(pipe[1]);
}

void added_to_epoll() {
    Queue queue;
    const Event event{waking()};
    const int set = static_cast<int>(want_success("epoll_create1", or_errno(::epoll_create1(0))));
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLOUT;
    io_uring_sqe request = request_on(set, IORING_OP_EPOLL_CTL, &wanted, EPOLL_CTL_ADD);
    request.off = static_cast<std::uint64_t>(event.fd());
    want_equal("epoll_ctl", queue.result_of(request), 0);
    epoll_event seen{};
    want_equal("ready events", or_errno(::epoll_wait(set, &seen, 1, 0)), 1);
    want_equal("epoll_wait", seen.events, static_cast<std::uint32_t>(EPOLLHUP));
    ::close(set);
}

/// A request that an event refuses.
struct Refused {
    const char* name;
    std::uint8_t operation;
    int error;
};

constexpr std::array kRefused{
    Refused{"write", IORING_OP_WRITE, EINVAL},         Refused{"fsync", IORING_OP_FSYNC, EINVAL},
    Refused{"send", IORING_OP_SEND, ENOTSOCK},         Refused{"recv", IORING_OP_RECV, ENOTSOCK},
    Refused{"sendmsg", IORING_OP_SENDMSG, ENOTSOCK},   Refused{"recvmsg", IORING_OP_RECVMSG, ENOTSOCK},
    Refused{"accept", IORING_OP_ACCEPT, ENOTSOCK},     Refused{"connect", IORING_OP_CONNECT, ENOTSOCK},
    Refused{"shutdown", IORING_OP_SHUTDOWN, ENOTSOCK},
};

void refuse(const Refused& row) {
    Queue queue;
    const Event event{dummy()};
    alignas(8) std::array<char, 128> buffer{};  // a message without parts, or an address
    const bool has_message = row.operation == IORING_OP_SENDMSG || row.operation == IORING_OP_RECVMSG;
    const bool has_buffer = row.operation == IORING_OP_WRITE || row.operation == IORING_OP_SEND ||
                            row.operation == IORING_OP_RECV || has_message;
    io_uring_sqe request = request_on(event.fd(), row.operation, has_buffer ? buffer.data() : nullptr,
                                      has_message  ? 1
                                      : has_buffer ? 8
                                                   : 0);
    if (row.operation == IORING_OP_CONNECT) {
        request.addr = reinterpret_cast<std::uintptr_t>(buffer.data());
        request.off = sizeof(sockaddr);
    }
    want_result(row.name, queue.result_of(request), row.error);
}

/// The old interface to requests that the kernel does later.
class Context {
  public:
    Context() {
        if (::syscall(SYS_io_setup, 4, &context_) != 0) throw Skip{"io_setup: " + errno_name(errno)};
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { ::syscall(SYS_io_destroy, context_); }

    long submit(iocb& request) const {
        iocb* list = &request;
        return or_errno(::syscall(SYS_io_submit, context_, 1, &list));
    }
    io_event next() const {
        io_event done{};
        want_equal("io_getevents", or_errno(::syscall(SYS_io_getevents, context_, 1, 1, &done, nullptr)), 1);
        return done;
    }

  private:
    aio_context_t context_ = 0;
};

void submit_refuses(std::uint16_t operation) {
    const Context context;
    const Event event{dummy()};
    std::uint64_t value = 0;
    iocb request{};
    request.aio_lio_opcode = operation;
    request.aio_fildes = static_cast<std::uint32_t>(event.fd());
    request.aio_buf = reinterpret_cast<std::uintptr_t>(&value);
    request.aio_nbytes = operation == IOCB_CMD_FSYNC ? 0 : sizeof value;
    if (operation == IOCB_CMD_FSYNC) request.aio_buf = 0;
    want_result("io_submit", context.submit(request), EINVAL);
}

void submitted_poll() {
    const Context context;
    const Event event{waking()};
    iocb request{};
    request.aio_lio_opcode = IOCB_CMD_POLL;
    request.aio_fildes = static_cast<std::uint32_t>(event.fd());
    request.aio_buf = POLLIN | POLLOUT;
    want_equal("io_submit", context.submit(request), 1);
    want_equal("poll", context.next().res, POLLHUP);
}

}  // namespace

std::vector<Case> submitted_cases() {
    std::vector<Case> cases{
        {"read", "io_uring reads an event", kNothing, read_gives_the_count},
        {"read_group", "io_uring reads a group", kNothing, read_of_a_group},
        {"poll.no_ring", "a poll by io_uring of an event without a ring is POLLHUP", kNothing, poll_without_ring},
        {"poll.ready", "a poll by io_uring after a wake-up is POLLIN", kNothing, poll_after_wakeup},
        {"poll.waits", "a poll by io_uring waits for the wake-up", kNothing, poll_waits},
        {"close", "io_uring closes an event", kNothing, close_closes},
        {"epoll", "io_uring adds an event to an epoll set", kNothing, added_to_epoll},
        {"aio.read", "io_submit refuses to read an event", kNothing, [] { submit_refuses(IOCB_CMD_PREAD); }},
        {"aio.write", "io_submit refuses to write an event", kNothing, [] { submit_refuses(IOCB_CMD_PWRITE); }},
        {"aio.fsync", "io_submit refuses to synchronise an event", kNothing, [] { submit_refuses(IOCB_CMD_FSYNC); }},
        {"aio.poll", "io_submit polls an event", kNothing, submitted_poll},
    };
    for (const Refused& row : kRefused)
        cases.push_back({std::string{"refused."} + row.name,
                         std::string{"io_uring refuses "} + row.name + " on an event with " + errno_name(row.error),
                         kNothing, [&row] { refuse(row); }});
    return cases;
}

}  // namespace conformance
