// own_memory_file.h: programs that write their code by /proc/self/mem (proc_pid_mem(5)), as some JITs do. The kernel
// writes there whatever the protection of the memory is, so the engine's write protection does not show it.
//
// Followed are write(2), pwrite64 and the like by a descriptor that this process or its parent has opened. Not
// followed: sendfile, splice and io_uring, and writes to the memory of another process.
#pragma once

#include <sys/stat.h>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// Called after a regular file was opened for writing: notes whether it is the memory of a process.
void note_opened_memory(Engine& engine, int fd, const struct stat& about);

/// Called after each system call of a process that has opened such a file: removes translations of what was written.
void follow_memory_writes(const Call& call, long answer);

}  // namespace anyperf::engine
