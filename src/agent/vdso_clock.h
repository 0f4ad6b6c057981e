// vdso_clock.h: reads a clock through the vDSO (vdso(7)), without a system call, because each sample needs the time.
// Without a vDSO the system call is made instead.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::agent {

/// The time of a clock in ns; 0 for a clock that does not exist.
std::uint64_t clock_now(const engine::Engine& engine, std::int32_t clockid);

/// The application unmaps, moves or replaces [start, end): if the vDSO is in it, it is not called any more.
void forget_vdso_clock(const engine::Engine& engine, std::uint64_t start, std::uint64_t end);

}  // namespace anyperf::agent
