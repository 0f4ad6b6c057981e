// machine_files.h: files below /proc and /sys by which a program learns what the machine has and does: memory, load,
// uptime, control groups, its own CPU time. In a deterministic run their content is fixed.
#pragma once

#include <cstdint>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// How many CPUs programs see; 0: the host's.
std::uint32_t shown_cpus(const Engine& engine);

/// Opens the file if the run defines its content, and sets `answer` to the call's result. `path` is the index of the
/// call's argument that has the path; `flags` are those of open(2). False if it is another file, or is opened to be
/// written. Only literal paths are recognised.
bool open_machine_file(Call& call, unsigned path, std::uint64_t flags, long& answer);

}  // namespace anyperf::engine
