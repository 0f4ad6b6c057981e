// task_life.h: registers new tasks of the run with the subsystem, and ends them there.
#pragma once

#include <sys/types.h>

#include "broker/state/broker_state.h"

namespace anyperf::broker {

/// Reports a child that has been taken from the pending ones to the subsystem, which creates its inherited events.
void register_child(BrokerState& state, const PendingChild& pending, const subsystem::TaskId& child);
/// Registers the children whose ids the kernel has written to their pages, though they have not been reported yet.
void register_pending_children(BrokerState& state);

/// The process has no ring mapped any more: it has ended, or another program has begun in it.
void unmap_rings_of(BrokerState& state, pid_t process);
/// Ends the thread in the subsystem, and forgets which thread has its page.
void end_thread(BrokerState& state, const subsystem::TaskId& task);
/// Ends all threads of the process in the subsystem. The process is still there and frees their pages itself.
void end_threads_of(BrokerState& state, pid_t process);
/// The process has ended: its pidfd is readable, or its parent is about to reap it. Ends its threads, unmaps its rings
/// and frees its thread pages. Does nothing if the process is not tracked, so a later report of the same end is
/// harmless.
void end_process(BrokerState& state, pid_t process);

}  // namespace anyperf::broker
