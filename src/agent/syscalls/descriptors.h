// descriptors.h: which of the application's descriptors are events. The process keeps a table by descriptor number,
// which is right because every system call that makes, copies or closes a descriptor passes through here. Numbers from
// kMaximumDescriptors on are not in the table.
#pragma once

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

using engine::Call;
using engine::Thread;

/// The event that the descriptor refers to; 0: it is not an event.
EventIndex event_of(const engine::Engine& engine, std::uint64_t fd);

/// `fd` refers to this event from now on; 0: to none.
void note_descriptor(const Thread& thread, std::uint64_t fd, EventIndex event);

/// Updates the table after any system call that may have made, copied or closed descriptors. `answer` is its result.
void track_descriptors(const Call& call, long answer);

/// Asks the broker which of all open descriptors are events: those that the process has from before its exec, or from
/// other processes.
void find_descriptors(Thread& thread);

}  // namespace anyperf::agent
