// clock.h: the time, as a thread of the application may ask for it often: without a system call where the kernel gives
// programs a way (vdso(7)).
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::resident {

struct Process;

/// ns of a clock; CLOCK_MONOTONIC where there is no such clock.
std::uint64_t clock_now(const engine::Engine& engine, std::int32_t clockid);

/// Finds the process's vDSO, once.
void find_clock(const engine::Engine& engine, Process& process);

/// The application has given these addresses away, or put something else there.
void forget_clock(const engine::Engine& engine, std::uint64_t start, std::uint64_t end);

}  // namespace anyperf::resident
