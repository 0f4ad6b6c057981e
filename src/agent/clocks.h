// clocks.h: the clocks of events: the time of records, and the CPU time by which events are enabled and run.
//
// They are the kernel's, except in a deterministic run: there both follow from what has retired
// (engine/time/virtual_clock.h), so that records have the same times in every run.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::agent {

/// The time of `clock` (attr.clockid) in ns, for a record of the calling thread; 0 for a clock that does not exist.
std::uint64_t record_clock(const engine::Thread& thread, std::int32_t clock);

/// The same of CLOCK_MONOTONIC, where no thread of the program may run yet. In a deterministic run it may lack what the
/// caller has retired since its last look at the clock.
std::uint64_t record_clock(const engine::Engine& engine);

/// CPU time of the calling thread in ns.
std::uint64_t task_clock(const engine::Thread& thread);

}  // namespace anyperf::agent
