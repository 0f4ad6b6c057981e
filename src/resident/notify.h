// notify.h: the signals of an overflow: that of O_ASYNC (fcntl(2), F_SETOWN and F_SETSIG), and attr.sigtrap's.
#pragma once

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// Signals the owner of the event's descriptor: POLL_IN, or POLL_HUP for the last overflow of REFRESH.
void notify(Thread& thread, const EventPage& event, bool hang_up);

/// SIGTRAP with si_code TRAP_PERF, synchronous, at the thread's registers; one is kept while it is blocked.
void trap(Thread& thread, const EventPage& event);

/// fcntl(2) on an event: F_SETFL, F_GETFL, F_SETOWN, F_SETOWN_EX, F_SETSIG. False: the kernel's alone.
bool control_notification(engine::Call& call, long& answer);

/// ioctl(2) FIOASYNC: O_ASYNC by another name.
long switch_notification(engine::Call& call, EventIndex event);

}  // namespace anyperf::resident
