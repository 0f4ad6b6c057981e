// machine_files.h: files below /proc and /sys by which a program learns what the machine has and does: memory, load,
// uptime, control groups, its own CPU time. In a deterministic run they say the same in every run.
#pragma once

#include <cstdint>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// How many CPUs programs see; 0: the host's.
std::uint32_t shown_cpus(const Engine& engine);

/// Opens the file if the run gives its text: `path` is the argument of the call that has the path, `flags` those of
/// open(2). False: it is another file. Only literal paths are recognised.
bool open_machine_file(Call& call, unsigned path, std::uint64_t flags, long& answer);

}  // namespace anyperf::engine
