// descriptor_waits.cpp: reads and writes of threads that take turns, as far as they may wait for another thread.
//
// PROBLEM. A thread that waits in the kernel for another thread of the run would keep the turn that the other one
// needs. And how much a large write stores at once would depend on how fast its reader is.
//
// MECHANISM. A read first asks the kernel whether it would wait (poll(2)). If so, the thread gives its turn away until
// another thread has used such a file (after_transfer()), and asks again. Then the row of the table makes the call,
// which does not wait: no other thread has run since the question. Files that never wait are always ready. A pipe is
// not asked: it is read with RWF_NOWAIT, since processes that exchange a few bytes make mostly such calls. A write to a
// pipe or socket of the run stores what fits without waiting (MSG_DONTWAIT, RWF_NOWAIT), gives the readers their turns,
// and goes on until all bytes are written or a signal comes. A write to the outside keeps the turn until all bytes are
// written, so that the run does not depend on the speed of its readers.
//
// LIMITS. What comes from the outside, and when, may differ from run to run (turns.h). A signal that comes in the
// middle of a write within the run ends it with the bytes that are written so far, as on the kernel.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>

#include "engine/syscalls/file_kinds.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/syscalls/turns/closed_waits.h"
#include "engine/syscalls/turns/descriptors.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

constexpr std::uint64_t kAtomicWrite = 4096;  // PIPE_BUF: fits whenever a pipe is ready
constexpr std::uint64_t kNoWait = 8;          // RWF_NOWAIT

bool watch_descriptor(void* context, int milliseconds) {
    const auto& polled = *static_cast<const PolledDescriptors*>(context);
    return ends_watch(kernel_call(__NR_poll, polled.place, polled.count, static_cast<std::uint64_t>(milliseconds)));
}

bool is_ready(Thread& thread, pollfd& about) {
    const ShownSignals shown{thread};
    about.revents = 0;
    return call_without_waiting(__NR_poll, address_of(&about), std::uint64_t{1}, std::uint64_t{0}) != 0;
}

bool is_non_blocking(std::uint64_t fd) {
    const long flags = kernel_call(__NR_fcntl, fd, F_GETFL);
    return is_error(flags) || (flags & O_NONBLOCK) != 0;
}

/// SO_RCVTIMEO or SO_SNDTIMEO as a deadline.
std::uint64_t deadline_of_socket(Thread& thread, std::uint64_t fd, int option) {
    timeval time{};
    std::uint32_t bytes = sizeof time;
    if (is_error(kernel_call(__NR_getsockopt, fd, SOL_SOCKET, static_cast<unsigned>(option), address_of(&time),
                             address_of(&bytes))) ||
        (time.tv_sec == 0 && time.tv_usec == 0))
        return run::kNoDeadline;
    return units_from_now(thread, time.tv_sec * std::int64_t{1'000'000'000} + time.tv_usec * 1000);
}

/// Gives the turn away until another thread has used such a file. False: `answer` is the call's, because it has ended
/// otherwise.
bool wait_for_use(Call& call, pollfd& about, long& answer) {
    const auto fd = static_cast<std::uint64_t>(about.fd);
    const File file = file_of(call.thread, fd);
    turns::Wait wait{.kind = run::TurnWait::descriptor, .key = {file.pipe, 0}};
    wait.watch = watch_descriptor;
    PolledDescriptors polled{address_of(&about), 1};
    wait.context = &polled;
    wait.outside = file.outside;
    wait.closed = is_poll_closed;
    if (file.is_socket)
        wait.deadline = deadline_of_socket(call.thread, fd, (about.events & POLLIN) != 0 ? SO_RCVTIMEO : SO_SNDTIMEO);
    const Ended ended = wait_or_interrupt(call.thread, wait, true, answer);
    if (ended == Ended::timed_out) answer = -EAGAIN;
    return ended == Ended::woken;
}

/// Waits until the descriptor, which is not ready, is so. False: as above.
bool wait_until_ready(Call& call, pollfd& about, long& answer) {
    do {
        if (!wait_for_use(call, about, answer)) return false;
    } while (!is_ready(call.thread, about));
    return true;
}

constexpr unsigned kNoFlags = 6;  ///< an argument that no call has
/// The argument of the call that may have MSG_DONTWAIT; kNoFlags if there is none.
unsigned flags_argument(std::uint64_t number) {
    switch (number) {
        case __NR_recvfrom:
        case __NR_sendto: return 3;
        case __NR_recvmsg:
        case __NR_sendmsg: return 2;
        default: return kNoFlags;
    }
}

bool wants_no_wait(const Call& call) {
    const unsigned flags = flags_argument(call.number);
    return flags != kNoFlags && (call.argument[flags] & MSG_DONTWAIT) != 0;
}

/// How many bytes the call is to write; 0 if no single argument says it.
std::uint64_t bytes_of(const Call& call) {
    return call.number == __NR_write || call.number == __NR_sendto ? call.argument[2] : 0;
}

/// The ranges of memory that writev(2) or sendmsg(2) writes.
struct Ranges {
    std::uint64_t place = 0;
    std::uint64_t count = 0;

    /// One of them; empty if it can't be read.
    iovec at(std::uint64_t i) const {
        iovec one{};
        x86_64::guarded_read(place + i * sizeof one, one);
        return one;
    }
};

Ranges ranges_of(const Call& call) {
    constexpr std::size_t kMost = 1024;  // UIO_MAXIOV
    msghdr message{};
    if (call.number == __NR_writev) return {call.argument[1], std::min<std::uint64_t>(call.argument[2], kMost)};
    if (call.number != __NR_sendmsg || !x86_64::guarded_read(call.argument[1], message)) return {};
    return {address_of(message.msg_iov), std::min(message.msg_iovlen, kMost)};
}

/// The same where the call has ranges.
std::uint64_t all_bytes_of(const Call& call) {
    std::uint64_t bytes = bytes_of(call);
    const Ranges ranges = ranges_of(call);
    for (std::uint64_t i = 0; i < ranges.count; ++i) bytes += ranges.at(i).iov_len;
    return bytes;
}

/// The next ranges to be written after the first `done` bytes.
struct NextRanges {
    iovec range[16];
    std::uint64_t count = 0;

    NextRanges(const Ranges& all, std::uint64_t done) {
        for (std::uint64_t i = 0; i < all.count && count < std::size(range); ++i) {
            const iovec one = all.at(i);
            const std::uint64_t skipped = std::min<std::uint64_t>(done, one.iov_len);
            done -= skipped;
            if (skipped < one.iov_len)
                range[count++] = {static_cast<char*>(one.iov_base) + skipped, one.iov_len - skipped};
        }
    }
};

/// Sends these ranges to a socket.
long send_some(Call part, std::uint64_t ranges, std::uint64_t count, std::uint64_t flags) {
    msghdr message{};
    message.msg_iov = at_address<iovec>(ranges);
    message.msg_iovlen = count;
    part.number = __NR_sendmsg;
    part.argument[1] = address_of(&message);
    part.argument[2] = flags | MSG_DONTWAIT;
    return part.pass_to_kernel();
}

/// Writes the call's bytes after the first `done`, as many as are possible without waiting.
long write_some(const Call& call, const File& file, std::uint64_t done) {
    Call part = call;
    NextRanges rest{ranges_of(call), done};
    if (call.number == __NR_sendmsg && done > 0)
        return send_some(call, address_of(rest.range), rest.count, call.argument[2]);
    if (const unsigned flags = flags_argument(call.number); flags != kNoFlags) {
        part.argument[flags] |= MSG_DONTWAIT;
        if (call.number == __NR_sendto) part.argument[1] += done, part.argument[2] -= done;
        return part.pass_to_kernel();
    }
    if (call.number == __NR_write)
        rest.range[rest.count++] = {at_address<void>(call.argument[1] + done), call.argument[2] - done};
    if (call.number == __NR_write || done > 0) {
        part.argument[1] = address_of(rest.range);
        part.argument[2] = rest.count;
    }
    if (file.is_socket) return send_some(part, part.argument[1], part.argument[2], 0);
    part.number = __NR_pwritev2;
    part.argument[3] = ~std::uint64_t{0};  // the file's own position
    part.argument[4] = 0;
    part.argument[5] = kNoWait;
    long got = part.pass_to_kernel();
    if (got != -EOPNOTSUPP) return got;
    // A kernel before 6.4: a page fits where the pipe is ready.
    pollfd about{static_cast<int>(call.argument[0]), POLLOUT, 0};
    if (!is_ready(call.thread, about)) return -EAGAIN;
    part.number = __NR_writev;
    part.argument[1] = address_of(rest.range);
    part.argument[2] = std::min<std::uint64_t>(rest.count, 1);
    rest.range[0].iov_len = std::min<std::uint64_t>(rest.range[0].iov_len, kAtomicWrite);
    return part.pass_to_kernel();
}

/// Writes all bytes to a pipe or socket of the run. Whenever it is full, its readers get their turns. `blocks`: whether
/// the descriptor blocks is known; else it is asked when the file is full.
long write_within(Call& call, const File& file, bool blocks) {
    pollfd about{static_cast<int>(call.argument[0]), POLLOUT, 0};
    const std::uint64_t all = all_bytes_of(call);
    std::uint64_t done = 0;
    for (;;) {
        const long got = write_some(call, file, done);
        if (got > 0) done += static_cast<std::uint64_t>(got);
        if (got >= 0 && (all == 0 || done >= all)) return static_cast<long>(done);
        if (got < 0 && got != -EAGAIN) return done > 0 ? static_cast<long>(done) : got;
        if (!blocks && is_non_blocking(call.argument[0])) return done > 0 ? static_cast<long>(done) : -EAGAIN;
        blocks = true;
        turns::wake_descriptors(call.engine, file.pipe != 0 ? file.pipe : ~std::uint64_t{0});
        long answer = 0;
        if (!is_ready(call.thread, about) && !wait_until_ready(call, about, answer))
            return done > 0 ? static_cast<long>(done) : answer;
    }
}

/// Writes to what is read outside of the run, after the first `done` bytes. The thread keeps its turn until all is
/// written, also where the call would not wait: the run must not depend on how fast others read.
long write_outside(Call& call, const File& file, std::uint64_t done) {
    const std::uint64_t all = bytes_of(call);
    turns::hold_on(call.thread, true);
    long got = 0;
    for (;;) {
        Call part = call;
        if (all != 0) part.argument[1] += done, part.argument[2] -= done;
        got = part.pass_to_kernel();
        if (got > 0) done += static_cast<std::uint64_t>(got);
        if (!file.outside || got == 0 || (got > 0 && done >= all) || (got < 0 && got != -EAGAIN)) break;
        pollfd about{static_cast<int>(call.argument[0]), POLLOUT, 0};
        Call ask = call;
        ask.number = __NR_poll;
        ask.argument[0] = address_of(&about);
        ask.argument[1] = 1;
        ask.argument[2] = ~std::uint64_t{0};
        if (const long asked = ask.pass_to_kernel(); asked < 0) {
            got = asked;
            break;
        }
    }
    turns::hold_on(call.thread, false);
    return done > 0 ? static_cast<long>(done) : got;
}

/// Writes a few bytes for a thread that is alone. Only a descriptor that does not block can refuse them, so whether it
/// blocks need not be asked before. False: they were refused, or only `done` bytes were written.
bool write_alone(Call& call, std::uint64_t bytes, std::uint64_t& done, long& answer) {
    answer = call.pass_to_kernel();
    if (answer == -EAGAIN) return false;
    done = is_error(answer) || answer == kRestartSyscall ? bytes : static_cast<std::uint64_t>(answer);
    return done >= bytes;
}

/// Whether a read would wait. A thread that is alone waits in the kernel, except for a timer, which the kernel does not
/// have.
bool waits_to_read(const Call& call) {
    const auto fd = static_cast<std::int32_t>(call.argument[0]);
    const bool has_timers = call.engine.timers != nullptr;
    if ((turns::is_alone(call.thread) && !has_timers) || wants_no_wait(call)) return false;
    pollfd about{fd, POLLIN, 0};
    return !is_ready(call.thread, about) && !is_non_blocking(call.argument[0]);
}

/// Whether the number of bytes is one that the kernel refuses at once, by another error than with ranges.
bool has_wrong_size(const Call& call) {
    const bool has_size = call.number == __NR_read || call.number == __NR_write;
    return has_size && static_cast<std::int64_t>(call.argument[2]) < 0;
}

/// The call as one that does not wait: preadv2(2) with RWF_NOWAIT.
long read_without_waiting(const Call& call) {
    Call part = call;
    iovec range{at_address<void>(call.argument[1]), call.argument[2]};
    part.number = __NR_preadv2;
    if (call.number == __NR_read) {
        part.argument[1] = address_of(&range);
        part.argument[2] = 1;
    }
    part.argument[3] = ~std::uint64_t{0};  // the file's own position, which a pipe does not have
    part.argument[4] = 0;
    part.argument[5] = kNoWait;
    return part.pass_to_kernel();
}

/// Reads from a pipe. False: the call is to be made as any other, because it may wait in the kernel, or because this is
/// a kernel before 6.4, which does not know RWF_NOWAIT for pipes.
bool read_pipe(Call& call, long& answer) {
    const bool alone = turns::is_alone(call.thread) && call.engine.timers == nullptr;
    if (alone && file_of(call.thread, call.argument[0]).outside) return false;
    pollfd about{static_cast<int>(call.argument[0]), POLLIN, 0};
    bool blocks = false;
    for (;;) {
        answer = read_without_waiting(call);
        if (answer == -EOPNOTSUPP) return false;
        if (answer != -EAGAIN || (!blocks && is_non_blocking(call.argument[0]))) return true;
        blocks = true;
        if (!wait_for_use(call, about, answer)) return true;
    }
}

}  // namespace

File file_of(const Thread& thread, std::uint64_t fd) {
    const Engine& engine = *thread.engine;
    struct stat about{};
    File file;
    if (const PipeFile* const pipe = known_pipe(thread, fd)) {
        file.outside = turns::is_outside(engine, pipe->device, pipe->inode);
        file.pipe = file.inode = pipe->inode;
        file.device = pipe->device;
        return file;
    }
    if (is_error(kernel_call(__NR_fstat, fd, address_of(&about)))) return file;
    file.device = about.st_dev;
    file.inode = about.st_ino;
    file.is_regular = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode);
    file.is_socket = S_ISSOCK(about.st_mode);
    file.outside = turns::is_outside(engine, about.st_dev, about.st_ino) || S_ISCHR(about.st_mode);
    if (S_ISFIFO(about.st_mode)) file.pipe = about.st_ino;
    if (file.is_socket) {
        int domain = 0;
        std::uint32_t bytes = sizeof domain;
        kernel_call(__NR_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, address_of(&domain), address_of(&bytes));
        file.outside = file.outside || domain != AF_UNIX;
    }
    return file;
}

bool read_like(Call& call, long& answer) {
    const DescriptorKind kind = kind_of_descriptor(call.thread, call.argument[0]);
    if (kind == DescriptorKind::never_waits || has_wrong_size(call)) return false;
    if (kind == DescriptorKind::pipe && (call.number == __NR_read || call.number == __NR_readv) &&
        read_pipe(call, answer))
        return true;
    if (call.number == __NR_read && read_timer(call, answer)) return true;
    if (!waits_to_read(call)) return false;
    pollfd about{static_cast<int>(call.argument[0]), POLLIN, 0};
    if (!wait_until_ready(call, about, answer)) return true;
    return call.number == __NR_read && read_timer(call, answer);
}

bool write_like(Call& call, long& answer) {
    const DescriptorKind kind = kind_of_descriptor(call.thread, call.argument[0]);
    if (kind == DescriptorKind::never_waits || has_wrong_size(call)) return false;
    if (kind == DescriptorKind::pipe && (call.number == __NR_write || call.number == __NR_writev)) {
        const File pipe = file_of(call.thread, call.argument[0]);
        if (!pipe.outside) {
            answer = write_within(call, pipe, false);
            return true;
        }
    }
    const std::uint64_t bytes = bytes_of(call);
    const bool is_short = bytes != 0 && bytes <= kAtomicWrite;
    const bool alone = is_short && call.number == __NR_write && turns::is_alone(call.thread);
    std::uint64_t done = 0;
    if (alone && write_alone(call, bytes, done, answer)) return true;
    pollfd about{static_cast<int>(call.argument[0]), POLLOUT, 0};
    if (is_short && !alone && is_ready(call.thread, about) && !is_non_blocking(call.argument[0])) return false;
    const File file = file_of(call.thread, call.argument[0]);
    if (file.is_regular) return false;
    const bool within = (file.pipe != 0 || file.is_socket) &&
                        !turns::is_outside(call.engine, file.device, file.inode) && !wants_no_wait(call);
    if (within && done != 0) return true;  // `answer` says how much
    if (within && is_non_blocking(call.argument[0])) return false;
    answer = within ? write_within(call, file, true) : write_outside(call, file, done);
    return true;
}

void after_transfer(Call& call, long answer) {
    if (answer <= 0 || !turns::any_descriptor_waiter(call.engine)) return;
    const File file = file_of(call.thread, call.argument[0]);
    if (!file.is_regular) turns::wake_descriptors(call.engine, file.pipe != 0 ? file.pipe : ~std::uint64_t{0});
}

void after_descriptor_change(Call& call, long) {
    turns::wake_descriptors(call.engine, 0);
}

void after_close(Call& call, long answer) {
    forget_timer_descriptor(call.thread, static_cast<std::int32_t>(call.argument[0]));
    after_descriptor_change(call, answer);
}

}  // namespace anyperf::engine::turn_calls
