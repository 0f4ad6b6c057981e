// descriptors.h: which of the application's descriptors are events. The process has a table by descriptor number.
// track_descriptors() keeps it up to date at every system call that makes, copies or closes a descriptor. The table
// ends before kMaximumDescriptors.
//
// The table can be wrong in two cases: processes share descriptors but not memory (CLONE_FILES without CLONE_VM), or
// threads share memory but not descriptors. From then on the process checks each descriptor before it uses the table.
#pragma once

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

using engine::Call;
using engine::Thread;

/// The event that the descriptor refers to; 0 if it is not an event.
EventIndex event_of(const engine::Engine& engine, std::uint64_t fd);

/// Notes that `fd` refers to `event` from now on; 0: to no event.
void note_descriptor(const Thread& thread, std::uint64_t fd, EventIndex event);

/// Call before a task is created with these flags of clone(2): notes if it shares descriptors but not memory, or memory
/// but not descriptors. The child of a vfork is left out: it has no table of its own.
void note_clone(const Thread& thread, std::uint64_t clone_flags);

/// If the table may be wrong: asks the kernel and the broker about the descriptors that the call names.
void refresh_descriptors(const Call& call);
/// The same for one descriptor.
void refresh_descriptor(Thread& thread, std::uint64_t fd);

/// Updates the table after any system call that may have made, copied or closed descriptors. `answer` is its result.
void track_descriptors(const Call& call, long answer);

/// Asks the broker which of all open descriptors are events. For descriptors that the process inherited: from before
/// its exec, or from another process.
void find_descriptors(Thread& thread);

}  // namespace anyperf::agent
