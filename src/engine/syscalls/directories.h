// directories.h: the order of directory entries in a deterministic run: by name. A file system's own order depends on
// which files were there before, and on a key that it has drawn.
//
// When a program begins to read a directory, all of it is read, sorted and kept for the descriptor; then the program
// gets it from there, with the number of an entry as its position. So it does not see what is made or removed after it
// has begun, until it rewinds (lseek(2) to 0). /proc keeps the kernel's order: what it lists changes with the
// descriptors and processes.
//
// LIMITS. A descriptor that is not at the beginning when the program first reads from it (a copy of another one, or one
// that an exec has kept) keeps the kernel's order, and so does a directory with more than 64 MiB of entries.
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// getdents(2) if `is_old`, else getdents64. False: the run does not sort this directory; the kernel answers.
bool read_sorted(Call& call, bool is_old, long& answer);

/// Called before a call: forgets the directories of the descriptors that it closes or replaces.
void forget_closed_directories(Engine& engine, std::uint64_t number, const std::uint64_t* argument);

}  // namespace anyperf::engine
