// descriptors.h: which of the application's descriptors are events. The process keeps a table by descriptor number,
// which is right because every system call that makes, copies or closes a descriptor passes through here. Numbers from
// kMaximumDescriptors on are not in the table.
//
// Where two processes share descriptors (CLONE_FILES without CLONE_VM), or threads of one process do not, a process
// does not see every such call. From then on it looks at each descriptor before it relies on the table.
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

/// A task is made with these flags: notes if it shares descriptors and not memory, or memory and not descriptors.
void note_clone(const Thread& thread, std::uint64_t clone_flags);

/// If the process shares descriptors: asks the kernel and the broker what those are that the call names.
void refresh_descriptors(const Call& call);
void refresh_descriptor(Thread& thread, std::uint64_t fd);

/// Updates the table after any system call that may have made, copied or closed descriptors. `answer` is its result.
void track_descriptors(const Call& call, long answer);

/// Asks the broker which of all open descriptors are events: those that the process has from before its exec, or from
/// other processes.
void find_descriptors(Thread& thread);

}  // namespace anyperf::agent
