// side_band.h: what a thread does that events record beside their samples: names, mappings, namespaces. Told before the
// thread goes on, and only while somebody records it.
#pragma once

#include "engine/syscalls/table.h"

namespace anyperf::resident {

/// After a system call of the thread that has succeeded.
void tell_side_band(const engine::Call& call, long answer);

/// All that a program has mapped at its start.
void tell_image(engine::Thread& thread);

/// The thread has mapped a ring.
void tell_ring(engine::Thread& thread, std::uint64_t start, std::uint64_t bytes, std::uint64_t protection,
               std::uint64_t flags);

/// brk(2), while mappings of data are recorded; false where they are not.
bool move_break(engine::Call& call, long& answer);

}  // namespace anyperf::resident
