// poll_set.h: poll(2) on descriptors some of which are events: what poll, select and epoll have in common. The broker
// knows whether an event has a wake-up or has hung up. The event's socket only says that this may have changed.
#pragma once

#include <poll.h>

#include <array>

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

using engine::Thread;

/// Descriptors in one call, at most. In a call with more, the kernel answers for events as for their sockets.
constexpr std::size_t kMaximumPolled = 1024;

/// The descriptors of one call.
struct PollSet {
    std::size_t count = 0;
    std::array<pollfd, kMaximumPolled> wanted;  ///< as the application gave them; `revents` gets the answer
    std::array<pollfd, kMaximumPolled> asked;   ///< as the kernel is asked: of an event, whether its socket is readable
    std::array<EventIndex, kMaximumPolled> event;  ///< 0: not an event
    bool any_event = false;
};

/// Fills in `asked`, `event` and `any_event` from `count` and `wanted`. Returns `any_event`.
bool find_events(Thread& thread, PollSet& polled);

/// Asks the broker for the event's state: POLLIN and POLLRDNORM for a wake-up, which is thereby consumed, POLLHUP, or
/// 0. POLLERR if the broker does not answer.
short poll_state_of(Thread& thread, EventIndex event);

/// Reads all that has arrived on an event's socket, so that only a new change makes it readable again.
void drain_socket(int fd);

/// Waits as poll(2) or ppoll(2), whichever `call` is, with its timeout and signal mask, until a descriptor is ready.
/// Fills in `revents` of `wanted`. Returns how many are ready, or a negated errno.
long poll_until_ready(engine::Call& call, PollSet& polled);

}  // namespace anyperf::agent
