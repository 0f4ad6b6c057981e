// descriptors.h: which of the application's descriptors are events. Known by number, because each call that makes,
// copies or closes one passes by here.
#pragma once

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

using engine::Call;
using engine::Thread;

/// The event behind a descriptor; 0: it is none.
EventIndex event_of(const engine::Engine& engine, std::uint64_t fd);

/// `fd` is this event from now on, or none.
void note_descriptor(const Thread& thread, std::uint64_t fd, EventIndex event);

/// After a system call that may have made, copied or closed descriptors.
void watch_descriptors(const Call& call, long answer);

/// Finds the events among the descriptors that the process has from before its exec, or from other processes.
void find_descriptors(Thread& thread);

}  // namespace anyperf::resident
