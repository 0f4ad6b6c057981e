// poll_set.h: what poll, select and epoll have in common when some of their descriptors are events. The broker knows
// whether an event has a wake-up or has hung up. If the event's socket is readable, that state may have changed.
#pragma once

#include <poll.h>

#include <array>

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

using engine::Thread;

/// The most descriptors of one call. A call with more goes to the kernel, which reports the sockets of its events.
constexpr std::size_t kMaximumPolled = 1024;

/// The descriptors of one call.
struct PollSet {
    std::size_t count = 0;
    std::array<pollfd, kMaximumPolled> wanted;     ///< from the application; `revents` receives the answer
    std::array<pollfd, kMaximumPolled> asked;      ///< what the kernel polls; POLLIN for events
    std::array<EventIndex, kMaximumPolled> event;  ///< 0: not an event
    bool any_event = false;
};

/// Fills in `asked`, `event` and `any_event` from `count` and `wanted`. Returns `any_event`.
bool find_events(Thread& thread, PollSet& polled);

/// Asks the broker for the event's state, which consumes a wake-up. Returns POLLIN and POLLRDNORM for a wake-up,
/// POLLHUP after a hang-up, POLLERR if the broker does not answer, else 0.
short poll_state_of(Thread& thread, EventIndex event);

/// Reads everything from an event's socket, so that only a later change makes it readable again.
void drain_socket(int fd);

/// Waits until a descriptor is ready, as poll(2) or ppoll(2) does. `call` is one of the two; it gives the timeout and
/// the signal mask. Fills in `revents` of `wanted`. Returns the number of ready descriptors, or a negated errno.
long poll_until_ready(engine::Call& call, PollSet& polled);

}  // namespace anyperf::agent
