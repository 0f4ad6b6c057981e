// counter_files.h: files below /proc and /sys in which the kernel counts or lists what the whole machine does: its
// sockets, traffic, memory zones, the processes of a control group. Programs of a deterministic run see their own
// sockets and processes there, and counts of 0.
//
// LIMITS. Only literal absolute paths are recognised. A socket that the run was started with is not listed. Lists of
// processes are the kernel's with --no-turns.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

bool is_counter_file(std::string_view path);

/// Makes a copy of such a file, which is open as `fd`. `flags`: of open(2). Returns a descriptor or a negated errno.
long copy_counter_file(const Engine& engine, std::string_view path, std::uint64_t fd, std::uint64_t flags);

}  // namespace anyperf::engine
