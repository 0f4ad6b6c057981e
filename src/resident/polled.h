// polled.h: descriptors that a thread waits for, events among them.
#pragma once

#include <poll.h>

#include <array>

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

constexpr std::size_t kPolled = 1024;  ///< descriptors in one call; with more, events are as their sockets

/// A call's descriptors, as the application gave them and as the kernel is asked.
struct Polled {
    std::size_t count = 0;
    std::array<pollfd, kPolled> wanted;
    std::array<pollfd, kPolled> asked;
    std::array<EventIndex, kPolled> event;
    bool any_event = false;
};

/// Fills in what follows from `count` and `wanted`. False: there is no event among them.
bool find_events(const engine::Engine& engine, Polled& polled);

/// What an event has to say: POLLIN and POLLRDNORM for a wake-up, which it is the last to hear of, or POLLHUP.
short state_of(Thread& thread, EventIndex event);

/// Takes from an event's socket what made it readable.
void drain(int fd);

/// Waits as poll(2) or ppoll(2), whichever `call` says, with its timeout and mask, until any has something to say.
/// Fills in `wanted`'s revents. How many have, or an errno, negated.
long wait_for(engine::Call& call, Polled& polled);

}  // namespace anyperf::resident
