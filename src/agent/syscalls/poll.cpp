// poll.cpp: poll(2) and ppoll(2) with events among the descriptors. The broker is asked for the state of each event. If
// none is ready the kernel polls, with the events' sockets in their place: the broker makes a socket readable when the
// state of its event changes, and then it is asked again. As in the kernel, a wake-up is seen once, by whoever polls
// first, even if the data has not been read, and an event without a ring has hung up.
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "agent/broker_request.h"
#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/event_syscalls.h"
#include "agent/syscalls/poll_set.h"
#include "engine/syscalls/handlers.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
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

/// Has the kernel poll `asked`, with this timeout. If that is null, with the timeout and the signal mask of the
/// application's call.
long kernel_poll(Call& call, PollSet& polled, const timespec* timeout) {
    if (call.number == __NR_ppoll && timeout == nullptr) {
        const std::uint64_t own_list = call.argument[0];
        call.argument[0] = address_of(polled.asked.data());
        const long got = engine::handlers::ppoll(call);
        call.argument[0] = own_list;
        return got;
    }
    if (timeout != nullptr)
        return kernel_call(__NR_ppoll, address_of(polled.asked.data()), polled.count, address_of(timeout), 0, 0);
    Call waiting = call;
    waiting.argument[0] = address_of(polled.asked.data());
    return waiting.pass_to_kernel();
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
        constexpr timespec kAtOnce{};
        const bool any_ready = ask_broker(call.thread, polled);
        const long got = kernel_poll(call, polled, any_ready ? &kAtOnce : nullptr);
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
