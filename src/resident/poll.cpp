// poll.cpp: poll(2) and ppoll(2) with events among the descriptors. What an event has to say is asked of the
// broker; to wait for a change, its socket becomes readable with it. A wake-up is seen once, by whoever polls first,
// though its data is unread; an event without a ring has hung up.
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "engine/syscalls/handlers.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/calls.h"
#include "resident/descriptors.h"
#include "resident/polled.h"
#include "resident/request.h"

namespace anyperf::resident {

using engine::address_of;
using engine::at_address;
using engine::kernel_call;
using engine::x86_64::guarded_copy;

namespace {

bool fetch(const Call& call, Polled& polled) {
    polled.count = call.argument[1];
    return polled.count != 0 && polled.count <= kPolled &&
           guarded_copy(polled.wanted.data(), at_address<const void>(call.argument[0]),
                        polled.count * sizeof(pollfd)) &&
           find_events(call.engine, polled);
}

}  // namespace

bool find_events(const engine::Engine& engine, Polled& polled) {
    for (std::size_t i = 0; i < polled.count; ++i) {
        const int fd = polled.wanted[i].fd;
        polled.event[i] = fd < 0 ? 0 : event_of(engine, static_cast<unsigned>(fd));
        polled.asked[i] = polled.wanted[i];
        if (polled.event[i] != 0) {
            polled.any_event = true;
            polled.asked[i].events = POLLIN;
        }
    }
    return polled.any_event;
}

short state_of(Thread& thread, EventIndex event) {
    const long state = Ask{thread, RequestKind::poll, event}.send();
    if (state < 0) return POLLERR;
    if ((state & 2) != 0) return POLLHUP;
    return (state & 1) != 0 ? POLLIN | POLLRDNORM : 0;
}

void drain(int fd) {
    char room[64];
    while (kernel_call(__NR_recvfrom, static_cast<unsigned>(fd), address_of(room), sizeof room, MSG_DONTWAIT) > 0) {
    }
}

namespace {

/// What the events among them say now. True where one says anything.
bool ask_events(Thread& thread, Polled& polled) {
    bool any = false;
    for (std::size_t i = 0; i < polled.count; ++i) {
        if (polled.event[i] == 0) continue;
        const short always = POLLHUP | POLLERR;
        const short state = state_of(thread, polled.event[i]);
        polled.wanted[i].revents = static_cast<short>(state & (polled.wanted[i].events | always));
        any = any || polled.wanted[i].revents != 0;
    }
    return any;
}

long kernel_poll(Call& call, Polled& polled, const timespec* timeout) {
    if (call.number == __NR_ppoll && timeout == nullptr) {
        const std::uint64_t theirs = call.argument[0];
        call.argument[0] = address_of(polled.asked.data());
        const long got = engine::handlers::ppoll(call);
        call.argument[0] = theirs;
        return got;
    }
    if (timeout != nullptr)
        return kernel_call(__NR_ppoll, address_of(polled.asked.data()), polled.count, address_of(timeout), 0, 0);
    Call waiting = call;
    waiting.argument[0] = address_of(polled.asked.data());
    return waiting.pass();
}

long finish(Polled& polled) {
    long ready = 0;
    for (std::size_t i = 0; i < polled.count; ++i) {
        if (polled.event[i] == 0) polled.wanted[i].revents = polled.asked[i].revents;
        ready += polled.wanted[i].revents != 0 ? 1 : 0;
    }
    return ready;
}

}  // namespace

long wait_for(Call& call, Polled& polled) {
    for (;;) {
        constexpr timespec kAtOnce{};
        const bool says = ask_events(call.thread, polled);
        const long got = kernel_poll(call, polled, says ? &kAtOnce : nullptr);
        if (got < 0) return got;
        bool changed = false;
        for (std::size_t i = 0; i < polled.count; ++i) {
            if (polled.event[i] == 0 || polled.asked[i].revents == 0) continue;
            drain(polled.asked[i].fd);
            changed = true;
        }
        if (!says && changed) ask_events(call.thread, polled);
        const long ready = finish(polled);
        if (ready != 0 || got == 0) return ready;
    }
}

bool poll_events(Call& call, long& answer) {
    if (known_process(call.engine) == nullptr) return false;
    Polled polled;
    if (!fetch(call, polled)) return false;
    answer = wait_for(call, polled);
    if (answer >= 0 &&
        !guarded_copy(at_address<void>(call.argument[0]), polled.wanted.data(), polled.count * sizeof(pollfd)))
        answer = -EFAULT;
    return true;
}

}  // namespace anyperf::resident
