// vdso_calls.h: calls functions of the vDSO (vdso(7)) instead of the kernel: each sample needs the time, and each
// request the CPU. Without a vDSO the system call is made.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::agent {

/// The time of a clock of the kernel in ns; 0 for a clock that does not exist. clocks.h has the clocks of events.
std::uint64_t kernel_clock(const engine::Engine& engine, std::int32_t clockid);

/// The CPU that the calling thread runs on.
std::int32_t running_cpu(const engine::Engine& engine);

/// The application unmaps, moves or replaces [start, end): if the vDSO is in it, it is not called any more.
void forget_vdso(const engine::Engine& engine, std::uint64_t start, std::uint64_t end);

}  // namespace anyperf::agent
