// side_band.h: reports to the broker the actions of a thread that side-band records describe: names, mappings,
// namespaces, cgroups, BPF programs. The broker writes the records. The thread waits until it has done so, because a
// record must come before the samples that it explains. Nothing is reported unless an event of the run requests such
// records (RunHeader).
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// To be called after a system call of the thread that has succeeded with `answer`.
void report_side_band(const engine::Call& call, long answer);

/// To be called after a write(2), even in a process that has never had an event: the write may have moved a task to a
/// cgroup whose tasks an event counts.
void report_moved_tasks(const engine::Call& call);

/// Reports all that is mapped when a program starts.
void report_image(engine::Thread& thread);

/// Reports that the thread has mapped a ring.
void report_ring(engine::Thread& thread, std::uint64_t start, std::uint64_t bytes, std::uint64_t protection,
                 std::uint64_t flags);

/// Makes the call brk(2) and reports a heap that has grown. Returns false if no event requests records of data
/// mappings; then the engine has to make the call.
bool move_break(engine::Call& call, long& answer);

}  // namespace anyperf::agent
