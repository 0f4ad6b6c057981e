// dispatch.h: the agent's part in a system call of the application. A call that its table does not answer, because it
// has nothing to do with events, goes on to the engine's own table (engine/syscalls/table.h).
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Handles a call about an event, with its result in `answer`. False: the engine handles the call.
bool handle_event_syscall(engine::Call& call, long& answer);

/// After a call that the engine or the kernel has handled: updates what the agent keeps about descriptors of events,
/// mapped rings, probed places and the CPU, and reports what side-band records describe. Does nothing if the call has
/// failed.
void follow_syscall(engine::Call& call, long answer);

}  // namespace anyperf::agent
