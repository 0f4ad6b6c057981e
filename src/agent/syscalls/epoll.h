// epoll.h: events in epoll(7) sets. For the kernel an event's descriptor is a socket, which becomes readable with each
// wake-up but never reports a hang-up. So the agent keeps what the application asked for, and each wait also asks the
// broker for the state of the events in the set.
//
// Limits: at most kMaximumEpollEntries events of a process; further ones never report a hang-up. A set is known by the
// number of its descriptor: a wait on a copy of that descriptor (dup(2)) reports the socket's states.
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// epoll_ctl(2) on an event; false where the descriptor is not an event, or the kernel is to report the error.
bool epoll_control(engine::Call& call, long& answer);

/// epoll_wait(2), epoll_pwait(2), epoll_pwait2(2); false where the set has no events.
bool epoll_wait_events(engine::Call& call, long& answer);

}  // namespace anyperf::agent
