// side_band.h: reports to the broker what a thread does that side-band records describe: names, mappings, namespaces,
// cgroups, BPF programs. The broker writes the records. The thread waits for that, so that a record comes before the
// samples that it explains. Nothing is reported unless an event of the run requests such records (RunHeader).
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// After a system call of the thread that has succeeded with `answer`.
void report_side_band(const engine::Call& call, long answer);

/// After a write(2), also of a process that has never had an event: it may have moved a task to a cgroup of which an
/// event counts the tasks.
void report_moved_tasks(const engine::Call& call);

/// Reports all that is mapped when a program starts.
void report_image(engine::Thread& thread);

/// Reports that the thread has mapped a ring.
void report_ring(engine::Thread& thread, std::uint64_t start, std::uint64_t bytes, std::uint64_t protection,
                 std::uint64_t flags);

/// brk(2), while records of data mappings are requested; false if they are not, and the engine does the call.
bool move_break(engine::Call& call, long& answer);

}  // namespace anyperf::agent
