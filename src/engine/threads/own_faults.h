// own_faults.h: the page faults that the engine itself has caused in a process. The kernel counts them as the
// program's, and getrusage(2), wait4(2) and waitid(2) report them; syscalls/time/usage.cpp subtracts them there.
//
// The faults of the engine's start and of its part of a fork are known exactly. Later the engine mostly touches new
// memory when it adds translations, and each new page costs one fault. So the number of touched pages gives the rest,
// without a system call for each translation. Faults of other kinds (its stacks, copies of its pages after a fork) are
// still counted as the program's: a few for each process.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// The process's page faults without I/O so far, as the kernel counts them.
std::uint64_t kernel_faults();

/// A process that is new by fork or execve is about to run the program: its faults since `before` were the engine's.
void begin_own_faults(const Thread& thread, std::uint64_t before);

/// The process's faults since `before` were the engine's, in new memory that it does not keep.
void add_own_faults(const Thread& thread, std::uint64_t before);

/// Brings the count in the process record up to date. Called before the count is read, and before the process ends or
/// executes another program.
void update_own_faults(const Thread& thread);

}  // namespace anyperf::engine
