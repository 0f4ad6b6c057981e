// mount_files.h: files and links below /proc/PID in which the kernel numbers mounts, devices and files without a name:
// mountinfo, fdinfo/FD, fd/FD and ns/NAME. Programs of a deterministic run see the run's numbers (made_files.h).
//
// LIMITS. Only literal absolute paths are recognised. A program that waits for changes of mountinfo by poll(2) sees
// none: it gets a copy.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/freestanding/text.h"
#include "engine/syscalls/call.h"
#include "engine/syscalls/proc_path.h"

namespace anyperf::engine {

bool is_mount_file(const ProcPath& path);

/// Makes a copy of such a file, which is open as `fd`, with the numbers of the run. `flags`: of open(2). Returns a
/// descriptor or a negated errno.
long copy_mount_file(const Engine& engine, const ProcPath& path, std::uint64_t fd, std::uint64_t flags);

/// What programs of a deterministic run see of a line of fdinfo: "mnt_id:\t1" and "ino:\t281474976710656". Empty: the
/// line as it is. `path`: of the descriptor, below /proc/PID/fd.
Line shown_fact(const Engine& engine, std::string_view line, const char* path);

/// readlink(2) of fd/FD or ns/NAME, if the link has an inode number in it: "pipe:[4026]". `path` ends with a NUL.
/// False: it has none, or is another link.
bool read_numbered_link(const Engine& engine, std::string_view path, std::uint64_t buffer, std::uint64_t bytes,
                        long& answer);

}  // namespace anyperf::engine
