// polls.cpp: calls that wait for one of several descriptors, made by threads that take turns.
//
// The call is tried without waiting. If no descriptor is ready, the thread gives its turn away until a call of another
// thread may have made one ready, and tries again: after any use of a file that is not regular, since the engine does
// not know which file is the other end of a socket. For a single pipe the inode is known, so only its uses wake the
// thread.
//
// If no thread of the run can go on, the `watch` function waits in the kernel for the same descriptors (turns.h, "The
// outside"). The virtual clock is not advanced to the deadline while something from the outside may come first
// (turns::Wait::outside).
//
// LIMITS. Of a poll(2) with more than 256 descriptors only the first 256 are looked at for whether they lead outside. A
// select(2) of a descriptor from 8,192 on is refused. For epoll(7) the process remembers only whether it has ever added
// a descriptor that leads outside.
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>

#include "engine/syscalls/turn_calls.h"
#include "engine/syscalls/turns/closed_waits.h"
#include "engine/syscalls/turns/descriptors.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

constexpr std::uint64_t kSetBytes = 8;  // sizeof(sigset_t) in the kernel

/// The mask that a call waits with. False: it is not valid, and `answer` is the error.
bool mask_at(std::uint64_t place, std::uint64_t bytes, bool& given, std::uint64_t& mask, long& answer) {
    given = place != 0;
    answer = bytes != kSetBytes ? -EINVAL : -EFAULT;
    return !given || (bytes == kSetBytes && x86_64::guarded_read(place, mask));
}

/// A timeout in ms as a deadline; below 0: none.
std::uint64_t deadline_of(Thread& thread, std::uint64_t argument) {
    const auto milliseconds = static_cast<std::int32_t>(argument);
    return milliseconds < 0 ? run::kNoDeadline : units_from_now(thread, std::int64_t{milliseconds} * 1'000'000);
}

/// A call that is tried again and again, and what its waits need.
struct Trial {
    Call& call;
    long (*attempt)(const Trial&);  ///< tries the call without waiting
    bool (*watch)(void* context, int milliseconds);
    turns::Closed (*closed)(Thread& thread, void* context);
    PolledDescriptors polled{};  ///< the context of both
    bool outside = false;        ///< one of the descriptors may become ready from outside
    std::uint64_t pipe = 0;      ///< the only descriptor is this pipe
};

/// Tries until a descriptor is ready, the deadline has come, or a signal interrupts the wait.
long try_until(Trial& trial, std::uint64_t deadline, bool masked) {
    const turns::Wait wait{.kind = run::TurnWait::descriptor,
                           .key = {trial.pipe, 0},
                           .deadline = deadline,
                           .watch = trial.watch,
                           .context = &trial.polled,
                           .outside = trial.outside,
                           .closed = trial.closed};
    for (;;) {
        long answer = trial.attempt(trial);
        if (answer != 0) return answer;
        switch (wait_or_interrupt(trial.call.thread, wait, false, answer)) {
            case Ended::woken: break;
            case Ended::timed_out: return trial.attempt(trial);
            case Ended::interrupted: return masked && answer == kRestartSyscall ? -EINTR : answer;
        }
    }
}

long attempt_poll(const Trial& trial) {
    const ShownSignals shown{trial.call.thread};
    return call_without_waiting(__NR_poll, trial.call.argument[0], trial.call.argument[1], std::uint64_t{0});
}

bool watch_poll(void* context, int milliseconds) {
    const auto& polled = *static_cast<const PolledDescriptors*>(context);
    return ends_watch(kernel_call(__NR_poll, polled.place, polled.count, static_cast<std::uint64_t>(milliseconds)));
}

/// Sets `outside` and `pipe` by the descriptors of poll(2).
void classify(Trial& trial) {
    const std::uint64_t count = trial.call.argument[1];
    constexpr std::uint64_t kMost = 256;
    for (std::uint64_t i = 0; i < std::min(count, kMost); ++i) {
        pollfd one{};
        if (!x86_64::guarded_read(trial.call.argument[0] + i * sizeof one, one) || one.fd < 0) continue;
        const File file = file_of(trial.call.thread, static_cast<std::uint64_t>(one.fd));
        trial.outside = trial.outside || file.outside;
        if (count == 1) trial.pipe = file.pipe;
    }
}

/// Whether the application's memory [from, to) has a byte that is not 0. What can't be read is 0: the kernel reads sets
/// up to the size of the process's table of descriptors only.
bool has_bits(std::uint64_t from, std::uint64_t to) {
    std::uint8_t piece[256];
    while (from < to) {
        const std::uint64_t bytes = std::min<std::uint64_t>(to - from, sizeof piece);
        const std::size_t got = x86_64::guarded_prefix(piece, at_address<const void>(from), bytes);
        if (std::any_of(piece, piece + got, [](std::uint8_t byte) { return byte != 0; })) return true;
        if (got < bytes) return false;
        from += bytes;
    }
    return false;
}

/// The three sets of select(2), in the engine's memory: a trial overwrites them.
struct Sets {
    static constexpr std::uint64_t kMostBytes = 1024;  // 8192 descriptors
    std::uint64_t place[3];
    std::uint64_t count;  ///< of descriptors
    std::uint64_t bytes;
    std::uint8_t wanted[3][kMostBytes];
    std::uint8_t found[3][kMostBytes];

    bool load(const Call& call) {
        constexpr std::uint64_t kLargestTable = 1 << 20;  // fs.nr_open, unless root has raised it
        const std::uint64_t named =
            std::min<std::uint64_t>(static_cast<std::uint32_t>(call.argument[0]), kLargestTable);
        count = std::min(named, kMostBytes * 8);
        bytes = (count + 63) / 64 * 8;
        for (unsigned i = 0; i < 3; ++i) {
            place[i] = call.argument[1 + i];
            if (place[i] == 0) continue;
            if (!x86_64::guarded_copy(wanted[i], at_address<const void>(place[i]), bytes)) return false;
            if (has_bits(place[i] + bytes, place[i] + (named + 7) / 8)) return false;
        }
        return true;
    }
    bool wants(std::uint64_t fd) const {
        bool any = false;
        for (unsigned i = 0; i < 3; ++i) any = any || (place[i] != 0 && (wanted[i][fd / 8] >> fd % 8 & 1) != 0);
        return any;
    }
    bool store() const {
        for (unsigned i = 0; i < 3; ++i)
            if (place[i] != 0 && !x86_64::guarded_copy(at_address<void>(place[i]), found[i], bytes)) return false;
        return true;
    }
};

struct Selection {
    const Call& call;
    Sets& sets;
};

long select_for(const Selection& selection, long ms) {
    const ShownSignals shown{selection.call.thread};
    Sets& sets = selection.sets;
    for (unsigned i = 0; i < 3; ++i) std::copy_n(sets.wanted[i], sets.bytes, sets.found[i]);
    timespec time{ms / 1000, ms % 1000 * 1'000'000};
    const auto set = [&](unsigned i) { return sets.place[i] != 0 ? address_of(sets.found[i]) : 0; };
    return kernel_call(__NR_pselect6, sets.count, set(0), set(1), set(2), address_of(&time), 0);
}

bool watch_select(void* context, int milliseconds) {
    return ends_watch(select_for(*static_cast<const Selection*>(context), milliseconds));
}

bool selects_outside(const Selection& selection) {
    for (std::uint64_t fd = 0; fd < selection.sets.count; ++fd)
        if (selection.sets.wants(fd) && file_of(selection.call.thread, fd).outside) return true;
    return false;
}

turns::Closed is_select_closed(Thread& thread, void* context) {
    const Sets& sets = static_cast<const Selection*>(context)->sets;
    ClosedSearch search{thread};
    for (std::uint64_t fd = 0; fd < sets.count && search.is_closed(); ++fd)
        if (sets.wants(fd)) search.add(fd);
    return search.result();
}

/// The deadline of select(2) and pselect6(2). False: the timeout is not valid, and `answer` is the error.
bool deadline_of_select(Call& call, std::uint64_t& deadline, long& answer) {
    if (call.number == __NR_pselect6) return deadline_after(call.thread, call.argument[4], deadline, answer);
    timeval time{};
    deadline = run::kNoDeadline;
    if (call.argument[4] == 0) return true;
    answer = -EFAULT;
    if (!x86_64::guarded_read(call.argument[4], time)) return false;
    answer = -EINVAL;
    if (time.tv_sec < 0 || time.tv_usec < 0) return false;
    // More than a second of microseconds is valid, as in do_sys_select() (fs/select.c).
    const timespec normal{time.tv_sec + time.tv_usec / 1'000'000, time.tv_usec % 1'000'000 * 1000};
    deadline = units_from_now(call.thread, ns_of(normal));
    return true;
}

long select_in_turns(Call& call, std::uint64_t deadline, bool masked) {
    Sets sets{};
    if (static_cast<std::int32_t>(call.argument[0]) < 0) return -EINVAL;
    if (!sets.load(call)) return -EFAULT;
    Selection selection{call, sets};
    turns::Wait wait{.kind = run::TurnWait::descriptor, .deadline = deadline, .watch = watch_select};
    wait.context = &selection;
    wait.closed = is_select_closed;
    wait.outside = selects_outside(selection);
    for (bool over = false;;) {
        long answer = 0;
        do {
            answer = select_for(selection, 0);
        } while (answer == -EINTR);
        if (answer > 0 || over) return sets.store() ? answer : -EFAULT;
        if (answer < 0) return answer;
        switch (wait_or_interrupt(call.thread, wait, false, answer)) {
            case Ended::woken: break;
            case Ended::timed_out: over = true; break;
            case Ended::interrupted: return masked && answer == kRestartSyscall ? -EINTR : answer;
        }
    }
}

long attempt_epoll(const Trial& trial) {
    const Call& call = trial.call;
    const ShownSignals shown{call.thread};
    return call_without_waiting(__NR_epoll_wait, call.argument[0], call.argument[1], call.argument[2],
                                std::uint64_t{0});
}

bool watch_epoll(void* context, int milliseconds) {
    pollfd about{static_cast<int>(static_cast<const PolledDescriptors*>(context)->place), POLLIN, 0};
    return ends_watch(kernel_call(__NR_poll, address_of(&about), 1, static_cast<std::uint64_t>(milliseconds)));
}

}  // namespace

bool poll_like(Call& call, long& answer) {
    std::uint64_t deadline = 0;
    bool given = false;
    std::uint64_t mask = 0;
    if (call.number == __NR_poll)
        deadline = deadline_of(call.thread, call.argument[2]);
    else if (!deadline_after(call.thread, call.argument[2], deadline, answer) ||
             !mask_at(call.argument[3], call.argument[4], given, mask, answer))
        return true;
    const OtherMask other{call.thread, given, mask};
    Trial trial{call, attempt_poll, watch_poll, is_poll_closed, {call.argument[0], call.argument[1]}};
    answer = attempt_poll(trial);
    if (answer != 0 || (call.number == __NR_poll && call.argument[2] == 0)) return true;
    classify(trial);
    answer = try_until(trial, deadline, given);
    if (call.number == __NR_ppoll && call.argument[2] != 0)
        store_remaining(call.thread, call.argument[2], deadline, false);
    return true;
}

bool select_like(Call& call, long& answer) {
    std::uint64_t deadline = 0;
    bool given = false;
    std::uint64_t mask = 0;
    struct {
        std::uint64_t mask, bytes;
    } argument{};
    if (!deadline_of_select(call, deadline, answer)) return true;
    if (call.number == __NR_pselect6 && call.argument[5] != 0) {
        answer = -EFAULT;
        if (!x86_64::guarded_read(call.argument[5], argument)) return true;
        if (!mask_at(argument.mask, argument.bytes, given, mask, answer)) return true;
    }
    const OtherMask other{call.thread, given, mask};
    answer = select_in_turns(call, deadline, given);
    if (call.argument[4] != 0 && deadline != run::kNoDeadline)
        store_remaining(call.thread, call.argument[4], deadline, call.number == __NR_select);
    return true;
}

bool epoll_like(Call& call, long& answer) {
    std::uint64_t deadline = 0;
    bool given = false;
    std::uint64_t mask = 0;
    if (call.number != __NR_epoll_pwait2)
        deadline = deadline_of(call.thread, call.argument[3]);
    else if (!deadline_after(call.thread, call.argument[3], deadline, answer))
        return true;
    if (call.number != __NR_epoll_wait && !mask_at(call.argument[4], call.argument[5], given, mask, answer))
        return true;
    const OtherMask other{call.thread, given, mask};
    Trial trial{call, attempt_epoll, watch_epoll, is_epoll_closed, {call.argument[0], 0}, call.engine.epolls_outside};
    answer = attempt_epoll(trial);
    if (answer != 0 || (call.number != __NR_epoll_pwait2 && call.argument[3] == 0)) return true;
    answer = try_until(trial, deadline, given);
    return true;
}

bool epoll_control(Call& call, long&) {
    if (call.argument[1] == EPOLL_CTL_ADD && !call.engine.epolls_outside)
        call.engine.epolls_outside = file_of(call.thread, call.argument[2]).outside;
    return false;
}

}  // namespace anyperf::engine::turn_calls
