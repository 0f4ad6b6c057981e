// directories.h: the order of directory entries in a deterministic run: by name. A file system's own order depends on
// which files were there before, and on a key that it has drawn.
//
// When a program begins to read a directory, all of it is read, sorted and kept for the descriptor; then the program
// gets it from there, with the number of an entry as its position. So it does not see what is made or removed after it
// has begun, until it rewinds (lseek(2) to 0). /proc keeps the kernel's order: what it lists changes with the
// descriptors and processes.
//
// The memory of a few directories is kept for the next ones, so a program that walks a tree costs no mapping for each.
//
// LIMITS. Of a descriptor that was read from before an exec, or through a copy of it, the program gets what the kernel
// still has to give, sorted. A directory with more than 64 MiB of entries is sorted in parts of that size, and a
// program can seek only in the part that it reads.
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// getdents(2) if `is_old`, else getdents64. False: the run does not sort this directory; the kernel answers.
bool read_sorted(Call& call, bool is_old, long& answer);

/// Called before a call: forgets the directories of the descriptors that it closes or replaces.
void forget_closed_directories(Engine& engine, std::uint64_t number, const std::uint64_t* argument);

}  // namespace anyperf::engine
