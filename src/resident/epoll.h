// epoll.h: events that a process watches by epoll(7). To the kernel they are sockets, which become readable with each
// wake-up but have never hung up: so what the application asked for is kept, and each wait asks the events themselves.
#pragma once

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

/// epoll_ctl(2) on an event; false where it is none, or none any more.
bool epoll_control(engine::Call& call, long& answer);

/// epoll_wait(2), epoll_pwait(2), epoll_pwait2(2); false where no event is watched by that descriptor.
bool epoll_wait_events(engine::Call& call, long& answer);

/// Descriptors from `first` to `last` are closed: neither watched nor do they watch.
void forget_epolled(Process& process, std::uint64_t first, std::uint64_t last);

}  // namespace anyperf::resident
