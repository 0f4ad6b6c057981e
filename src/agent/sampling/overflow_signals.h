// overflow_signals.h: the signals of an overflow: that of O_ASYNC (fcntl(2), F_SETOWN and F_SETSIG), and that of
// attr.sigtrap. They are sent by the thread that overflowed. The kernel lets a process send the si_code of a kernel
// signal only to itself (rt_sigqueueinfo(2)). So a signal to another process carries a code of the engine's, and the
// engine of that process puts the right one back before a handler runs; sigtimedwait(2) and signalfd(2) see the
// engine's code. A signal to a process group has no si_fd and si_band.
#pragma once

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

using engine::Thread;

/// Signals the owner of the event's descriptor: POLL_IN, or with `hang_up` POLL_HUP, for the last overflow of REFRESH.
/// Does nothing unless O_ASYNC is set and there is an owner.
void send_io_signal(Thread& thread, const EventPage& event, bool hang_up);

/// Sends the thread SIGTRAP with si_code TRAP_PERF, at its registers. Only one is pending at a time; one that is sent
/// while the signal is blocked has TRAP_PERF_FLAG_ASYNC, and is delivered once the signal is unblocked.
void send_sigtrap(Thread& thread, const EventPage& event);

/// fcntl(2) on an event: F_SETFL, F_GETFL, F_SETOWN, F_SETOWN_EX, F_SETSIG. False: another request or another
/// descriptor; the engine makes the call.
bool fcntl_event(engine::Call& call, long& answer);

/// ioctl(2) FIOASYNC: sets or clears O_ASYNC.
long ioctl_async(engine::Call& call, EventIndex event);

}  // namespace anyperf::agent
