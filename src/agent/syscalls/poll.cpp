// poll.cpp: poll(2) and ppoll(2) with events among the descriptors. The broker is asked for the state of each event. If
// none is ready the engine polls, with the events' sockets in their place: the broker makes a socket readable when the
// state of its event changes, and then it is asked again. As in the kernel, a wake-up is seen once, by whoever polls
// first, even if the data has not been read, and an event without a ring has hung up.
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "agent/broker_request.h"
#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/event_syscalls.h"
#include "agent/syscalls/poll_set.h"
#include "engine/syscalls/table.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
using engine::has_virtual_clock;
using engine::kernel_call;
using engine::x86_64::guarded_copy;

namespace {

/// Reads the application's list. False: it cannot be read, is too long or has no event; the engine makes the call.
bool fetch(const Call& call, PollSet& polled) {
    polled.count = call.argument[1];
    return polled.count != 0 && polled.count <= kMaximumPolled &&
           guarded_copy(polled.wanted.data(), at_address<const void>(call.argument[0]),
                        polled.count * sizeof(pollfd)) &&
           find_events(call.thread, polled);
}

}  // namespace

// `wanted` is the application's list. `asked`, the list that the kernel polls, has POLLIN for each event, whatever the
// application wants, because the broker makes an event's socket readable at any change.
bool find_events(Thread& thread, PollSet& polled) {
    for (std::size_t i = 0; i < polled.count; ++i) {
        const int fd = polled.wanted[i].fd;
        if (fd >= 0) refresh_descriptor(thread, static_cast<unsigned>(fd));
        polled.event[i] = fd < 0 ? 0 : event_of(*thread.engine, static_cast<unsigned>(fd));
        polled.asked[i] = polled.wanted[i];
        if (polled.event[i] != 0) {
            polled.any_event = true;
            polled.asked[i].events = POLLIN;
        }
    }
    return polled.any_event;
}

short poll_state_of(Thread& thread, EventIndex event) {
    const long state = BrokerRequest{thread, run::RequestKind::poll, event}.send();
    if (state < 0) return POLLERR;
    if ((state & 2) != 0) return POLLHUP;
    return (state & 1) != 0 ? POLLIN | POLLRDNORM : 0;
}

void drain_socket(int fd) {
    char room[64];
    while (kernel_call(__NR_recvfrom, static_cast<unsigned>(fd), address_of(room), sizeof room, MSG_DONTWAIT) > 0) {
    }
}

namespace {

/// Asks the broker for the state of each event, into `revents` of `wanted`. Returns whether one is ready.
bool ask_broker(Thread& thread, PollSet& polled) {
    bool any = false;
    for (std::size_t i = 0; i < polled.count; ++i) {
        if (polled.event[i] == 0) continue;
        const short always = POLLHUP | POLLERR;
        const short state = poll_state_of(thread, polled.event[i]);
        polled.wanted[i].revents = static_cast<short>(state & (polled.wanted[i].events | always));
        any = any || polled.wanted[i].revents != 0;
    }
    return any;
}

constexpr std::int64_t kNsOfSecond = 1'000'000'000;

std::int64_t nanoseconds_of(const timespec& time) {
    return time.tv_sec * kNsOfSecond + time.tv_nsec;
}

/// CLOCK_MONOTONIC as the program sees it. In a deterministic run a look takes some time.
std::int64_t now_ns(Thread& thread) {
    if (has_virtual_clock(*thread.engine))
        return static_cast<std::int64_t>(engine::monotonic_ns(engine::look_at_clock(thread, engine::kUnitsOfCall)));
    timespec now{};
    kernel_call(__NR_clock_gettime, CLOCK_MONOTONIC, address_of(&now));
    return nanoseconds_of(now);
}

/// Checks the timeout and the mask of ppoll(2) in the kernel's order. Returns 0 or the negated errno.
long check_ppoll(const Call& call) {
    constexpr std::uint64_t kSetBytes = 8;  // sizeof(sigset_t) in the kernel
    timespec timeout{};
    if (call.argument[2] != 0) {
        if (!guarded_copy(&timeout, at_address<const void>(call.argument[2]), sizeof timeout)) return -EFAULT;
        if (timeout.tv_sec < 0 || timeout.tv_nsec < 0 || timeout.tv_nsec >= kNsOfSecond) return -EINVAL;
    }
    std::uint64_t mask = 0;
    if (call.argument[3] == 0) return 0;
    if (call.argument[4] != kSetBytes) return -EINVAL;
    return guarded_copy(&mask, at_address<const void>(call.argument[3]), sizeof mask) ? 0 : -EFAULT;
}

/// Takes the time since `begin` off the timeout of ppoll(2), as the kernel does when the call ends. If it can't be
/// written the call succeeds all the same.
void shorten_timeout(const Call& call, std::int64_t begin) {
    timespec left{};
    if (call.argument[2] == 0 || !guarded_copy(&left, at_address<const void>(call.argument[2]), sizeof left) ||
        left.tv_sec > INT64_MAX / kNsOfSecond - 1)
        return;
    const std::int64_t rest = std::max<std::int64_t>(nanoseconds_of(left) - (now_ns(call.thread) - begin), 0);
    left = {rest / kNsOfSecond, rest % kNsOfSecond};
    guarded_copy(at_address<void>(call.argument[2]), &left, sizeof left);
}

/// Has the kernel look at `asked` without waiting, since an event is ready.
long poll_at_once(const Call& call, PollSet& polled) {
    const bool is_ppoll = call.number == __NR_ppoll;
    if (const long error = is_ppoll ? check_ppoll(call) : 0; error != 0) return error;
    const std::int64_t begin = is_ppoll ? now_ns(call.thread) : 0;
    const timespec none{};
    const long got = kernel_call(__NR_ppoll, address_of(polled.asked.data()), polled.count, address_of(&none), 0, 0);
    if (is_ppoll) shorten_timeout(call, begin);
    return got;
}

/// Polls `asked` as the engine does, with the timeout and the signal mask of the application's call.
long poll_by_engine(Call& call, PollSet& polled) {
    const std::uint64_t own_list = call.argument[0];
    call.argument[0] = address_of(polled.asked.data());
    const long got = engine::run_engine_row(call);
    call.argument[0] = own_list;
    return got;
}

/// Copies the kernel's answers for descriptors that are not events to `wanted`. Returns how many descriptors are ready
/// in all.
long finish(PollSet& polled) {
    long ready = 0;
    for (std::size_t i = 0; i < polled.count; ++i) {
        if (polled.event[i] == 0) polled.wanted[i].revents = polled.asked[i].revents;
        ready += polled.wanted[i].revents != 0 ? 1 : 0;
    }
    return ready;
}

}  // namespace

long poll_until_ready(Call& call, PollSet& polled) {
    for (;;) {
        const bool any_ready = ask_broker(call.thread, polled);
        const long got = any_ready ? poll_at_once(call, polled) : poll_by_engine(call, polled);
        if (got < 0) return got;
        bool changed = false;
        for (std::size_t i = 0; i < polled.count; ++i) {
            if (polled.event[i] == 0 || polled.asked[i].revents == 0) continue;
            drain_socket(polled.asked[i].fd);
            changed = true;
        }
        if (!any_ready && changed) ask_broker(call.thread, polled);
        const long ready = finish(polled);
        if (ready != 0 || got == 0) return ready;
    }
}

bool poll_events(Call& call, long& answer) {
    if (existing_process(call.engine) == nullptr) return false;
    PollSet polled;
    if (!fetch(call, polled)) return false;
    answer = poll_until_ready(call, polled);
    if (answer >= 0 &&
        !guarded_copy(at_address<void>(call.argument[0]), polled.wanted.data(), polled.count * sizeof(pollfd)))
        answer = -EFAULT;
    return true;
}

}  // namespace anyperf::agent
