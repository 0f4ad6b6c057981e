// submitted_requests.cpp: before the kernel gets the requests, each one on an event is changed so that the kernel
// completes it as it would on an event. An event's descriptor is a socket here (docs/architecture.md).
//
// - A read is done here, and the request reads what it gave from a file in memory.
// - A poll of an event that is ready polls another descriptor that is (stand_ins.h). Otherwise it polls the event's
//   socket, which the broker makes readable at the next wake-up.
// - What is for sockets gets an epoll set, which is none either: ENOTSOCK. What else an event refuses is EINVAL.
// - A close needs no change, only the note that the number is no event any more.
//
// The changes are made in the program's memory. Requests that the kernel has not taken get back what they had.
//
// LIMITS: a ring with a thread of the kernel (IORING_SETUP_SQPOLL), and registered descriptors (IOSQE_FIXED_FILE), are
// not looked at: there an event is a socket. A read that Linux refuses (ENOSPC) is EBADF. Of a submission the first
// kMostRequests requests on events are changed; more are EBADF.
#include "agent/syscalls/submitted_requests.h"

#include <asm/unistd.h>
#include <linux/aio_abi.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>

#include "agent/process.h"
#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/epoll.h"
#include "agent/syscalls/event_syscalls.h"
#include "agent/syscalls/stand_ins.h"
#include "engine/syscalls/submission_queues.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

namespace {

using engine::address_of;
using engine::at_address;
using engine::Call;
using engine::is_error;
using engine::kernel_call;
using engine::RingRequest;
using engine::x86_64::guarded_copy;

constexpr std::size_t kMostRequests = 32;

template <class Value>
bool fetch(std::uint64_t place, Value& out) {
    return guarded_copy(&out, at_address<const void>(place), sizeof out);
}

template <class Value>
void store(std::uint64_t place, const Value& value) {
    guarded_copy(at_address<void>(place), &value, sizeof value);
}

EventIndex event_at(Call& call, std::int32_t fd) {
    if (fd < 0) return 0;
    refresh_descriptor(call.thread, static_cast<unsigned>(fd));
    return event_of(call.engine, static_cast<unsigned>(fd));
}

/// What happens to a request of io_uring on an event.
enum class Treatment : std::uint8_t { invalid, no_socket, read, read_vector, poll, close };

struct OperationRow {
    std::uint8_t operation;  ///< IORING_OP_… of linux/io_uring.h; older headers have less than Linux 6.18
    Treatment treatment;
};

/// The operations whose `fd` is a file.
constexpr std::array kOperations{
    OperationRow{1, Treatment::read_vector},  // READV
    OperationRow{2, Treatment::invalid},      // WRITEV
    OperationRow{3, Treatment::invalid},      // FSYNC
    OperationRow{4, Treatment::read},         // READ_FIXED
    OperationRow{5, Treatment::invalid},      // WRITE_FIXED
    OperationRow{6, Treatment::poll},         // POLL_ADD
    OperationRow{8, Treatment::invalid},      // SYNC_FILE_RANGE
    OperationRow{9, Treatment::no_socket},    // SENDMSG
    OperationRow{10, Treatment::no_socket},   // RECVMSG
    OperationRow{13, Treatment::no_socket},   // ACCEPT
    OperationRow{16, Treatment::no_socket},   // CONNECT
    OperationRow{19, Treatment::close},       // CLOSE
    OperationRow{22, Treatment::read},        // READ
    OperationRow{23, Treatment::invalid},     // WRITE
    OperationRow{26, Treatment::no_socket},   // SEND
    OperationRow{27, Treatment::no_socket},   // RECV
    OperationRow{30, Treatment::invalid},     // SPLICE
    OperationRow{33, Treatment::invalid},     // TEE
    OperationRow{34, Treatment::no_socket},   // SHUTDOWN
    OperationRow{47, Treatment::no_socket},   // SEND_ZC
    OperationRow{48, Treatment::no_socket},   // SENDMSG_ZC
    OperationRow{49, Treatment::invalid},     // READ_MULTISHOT
    OperationRow{55, Treatment::invalid},     // FTRUNCATE
    OperationRow{56, Treatment::no_socket},   // BIND
    OperationRow{57, Treatment::no_socket},   // LISTEN
    OperationRow{58, Treatment::no_socket},   // RECV_ZC
};
constexpr std::uint8_t kNothing = 0;                 // NOP
constexpr std::uint8_t kRead = 22;                   // READ
constexpr std::uint8_t kReceive = 27;                // RECV
constexpr std::uint8_t kControlSet = 29;             // EPOLL_CTL
constexpr std::uint8_t kMove[]{30, 33};              // SPLICE and TEE, whose source is RingRequest::second
constexpr std::uint8_t kRegistered = 1;              // IOSQE_FIXED_FILE
constexpr std::uint32_t kFromRegistered = 1u << 31;  // SPLICE_F_FD_IN_FIXED

/// The requests of one io_uring_enter(2).
class Submission {
  public:
    explicit Submission(Call& call) : call_{call}, stand_ins_{call} {
        engine::visit_waiting_requests(
            [](void* self, std::uint64_t place) { static_cast<Submission*>(self)->change(place); }, this);
    }
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;
    /// Restores what the kernel has not taken.
    ~Submission() {
        engine::visit_waiting_requests(
            [](void* self, std::uint64_t place) { static_cast<const Submission*>(self)->restore(place); }, this);
    }

    bool has_changed() const { return changed_ != 0; }

  private:
    struct Changed {
        std::uint64_t place;
        RingRequest before;
    };

    void change(std::uint64_t place) {
        RingRequest request;
        if (!fetch(place, request)) return;
        const RingRequest before = request;
        if (!is_changed(request)) return;
        if (changed_ == kMostRequests)
            request.fd = -1;
        else
            requests_[changed_++] = {place, before};
        store(place, request);
    }

    void restore(std::uint64_t place) const {
        const auto end = requests_.begin() + static_cast<std::ptrdiff_t>(changed_);
        const auto found = std::find_if(requests_.begin(), end, [=](const Changed& c) { return c.place == place; });
        if (found != end) store(place, found->before);
    }

    /// Changes the request if it is on an event.
    bool is_changed(RingRequest& request) {
        if (request.operation == kControlSet) return controls_set(request);
        const bool moves = std::ranges::find(kMove, request.operation) != std::end(kMove);
        if (moves && (request.operation_flags & kFromRegistered) == 0 && event_at(call_, request.second) != 0) {
            make_invalid(request);
            return true;
        }
        const auto row = std::ranges::find(kOperations, request.operation, &OperationRow::operation);
        if (row == kOperations.end() || (request.flags & kRegistered) != 0) return false;
        const EventIndex event = event_at(call_, request.fd);
        if (event == 0) return false;
        treat(request, event, row->treatment);
        return true;
    }

    void treat(RingRequest& request, EventIndex event, Treatment treatment) {
        switch (treatment) {
            case Treatment::invalid: make_invalid(request); break;
            case Treatment::no_socket: make_no_socket(request); break;
            case Treatment::poll: request.fd = stand_ins_.polled(request.fd, event, request.operation_flags); break;
            case Treatment::close: forget(request); break;
            case Treatment::read: read(request, event); break;
            case Treatment::read_vector: {
                iovec first{};
                if (request.length != 0 && !fetch(request.address, first)) return;  // EFAULT by the kernel
                request.operation = kRead;
                request.address = address_of(first.iov_base);
                request.length = static_cast<std::uint32_t>(first.iov_len);
                read(request, event);
                break;
            }
        }
    }

    /// A request with another operation in place of `request`, whose completion the program sees as that of its own.
    static RingRequest another(const RingRequest& request, std::uint8_t operation) {
        RingRequest other{};
        other.operation = operation;
        other.flags = request.flags;
        other.fd = -1;
        other.user_data = request.user_data;
        other.personality = request.personality;
        return other;
    }

    // The next two functions replace the operation by one that is refused while it is submitted. The own operation
    // might be done by a thread of the kernel, when the stand-in is closed again, or wait until the stand-in is ready.

    /// EINVAL: an epoll set cannot be taken out of itself.
    void make_invalid(RingRequest& request) {
        constexpr std::uint32_t kRemove = 2;  // EPOLL_CTL_DEL
        request = another(request, kControlSet);
        request.fd = stand_ins_.epoll_set();
        request.offset = static_cast<std::uint32_t>(request.fd);
        request.length = kRemove;
    }

    /// ENOTSOCK: an epoll set is no socket.
    void make_no_socket(RingRequest& request) {
        request = another(request, kReceive);
        request.fd = stand_ins_.epoll_set();
    }

    void forget(const RingRequest& request) {
        if (request.second != 0) return;  // a registered file is closed
        Call close = call_;
        close.number = __NR_close;
        close.argument[0] = static_cast<unsigned>(request.fd);
        track_descriptors(close, 0);
    }

    void read(RingRequest& request, EventIndex event) {
        std::array<std::uint64_t, 512> room;
        Call read = call_;
        read.number = __NR_read;
        read.argument[1] = address_of(room.data());
        read.argument[2] = std::min<std::uint64_t>(request.length, sizeof room);
        const long bytes = read_event(read, event);
        request.fd = -1;
        if (is_error(bytes)) return;
        request.fd = stand_ins_.with_bytes(room.data(), static_cast<std::size_t>(bytes), request.offset);
        request.length = static_cast<std::uint32_t>(bytes);
    }

    /// epoll_ctl(2) by a ring. Made here if it is about an event: then nothing is left to do.
    bool controls_set(RingRequest& request) {
        Call control = call_;
        control.number = __NR_epoll_ctl;
        control.argument[0] = static_cast<unsigned>(request.fd);
        control.argument[1] = request.length;
        control.argument[2] = request.offset;
        control.argument[3] = request.address;
        long answer = 0;
        if (event_at(call_, static_cast<std::int32_t>(request.offset)) == 0 || !epoll_control(control, answer) ||
            answer != 0)
            return false;
        request = another(request, kNothing);
        return true;
    }

    Call& call_;
    StandIns stand_ins_;
    std::size_t changed_ = 0;
    std::array<Changed, kMostRequests> requests_;
};

/// A request of io_submit(2) that is on an event: changes its descriptor.
void change(Call& call, StandIns& stand_ins, iocb& request) {
    const auto fd = static_cast<std::int32_t>(request.aio_fildes);
    const EventIndex event = event_at(call, fd);
    auto events = static_cast<std::uint32_t>(request.aio_buf);
    const bool polls = request.aio_lio_opcode == IOCB_CMD_POLL;
    request.aio_fildes =
        static_cast<std::uint32_t>(polls ? stand_ins.polled(fd, event, events) : stand_ins.epoll_set());
    if (polls) request.aio_buf = events;
}

}  // namespace

// One call of the kernel submits the requests, and a second one waits. Between the two the stand-ins are closed.
bool enter_ring(Call& call, long& answer) {
    constexpr std::uint64_t kWaits = 1;     // IORING_ENTER_GETEVENTS
    constexpr std::uint64_t kExtended = 8;  // IORING_ENTER_EXT_ARG: about the wait
    if (existing_process(call.engine) == nullptr || call.argument[1] == 0) return false;
    const std::uint64_t flags = call.argument[3];
    {
        const Submission submission{call};
        if (!submission.has_changed()) return false;
        engine::drop_closes_of_own_descriptors(call.engine);
        answer = kernel_call(__NR_io_uring_enter, call.argument[0], call.argument[1], 0, flags & ~(kWaits | kExtended),
                             0, 0);
    }
    if (is_error(answer) || (flags & kWaits) == 0) return true;
    Call wait = call;
    wait.argument[1] = 0;
    const long waited = wait.pass_to_kernel();
    if (answer == 0) answer = waited;  // what was submitted counts, whatever ends the wait (io_uring_enter(2))
    return true;
}

bool submit_requests(Call& call, long& answer) {
    if (existing_process(call.engine) == nullptr) return false;
    struct Changed {
        std::uint64_t place;
        iocb before;
    };
    std::array<Changed, kMostRequests> requests;
    std::size_t changed = 0;
    StandIns stand_ins{call};
    const auto count = static_cast<std::int64_t>(call.argument[1]);
    for (std::int64_t i = 0; i < count && changed < kMostRequests; ++i) {
        std::uint64_t place = 0;
        iocb request{};
        if (!fetch(call.argument[2] + static_cast<std::uint64_t>(i) * sizeof place, place) || !fetch(place, request))
            break;
        if (event_at(call, static_cast<std::int32_t>(request.aio_fildes)) == 0) continue;
        requests[changed++] = {place, request};
        change(call, stand_ins, request);
        store(place, request);
    }
    if (changed == 0) return false;
    answer = call.pass_to_kernel();
    for (std::size_t i = 0; i < changed; ++i) store(requests[i].place, requests[i].before);
    return true;
}

}  // namespace anyperf::agent
