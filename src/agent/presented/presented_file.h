// presented_file.h: recognizes the descriptors of those presented files that do something when a program writes to
// them. A descriptor is recognized by its file's inode, so copies and inherited descriptors work as well.
#pragma once

#include <cstdint>

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Whether `fd` is open for writing on the file of the run's directory that has this inode. 0: on none.
bool writes_presented_file(const engine::Call& call, std::uint64_t fd, std::uint64_t inode);

/// Whether `fd` is open for writing on a file of the same file system, as all presented files are.
bool writes_some_presented_file(const engine::Call& call, std::uint64_t fd);

}  // namespace anyperf::agent
