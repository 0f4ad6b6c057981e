// run_settings.h: what a run is told before it begins, in its memory's header (engine/run_state.h).
#pragma once

#include "broker/run.h"

namespace anyperf::broker {

/// A run's memory with its settings: those of the options and of the environment (ANYPERF_ENGINE_CACHE,
/// ANYPERF_ENGINE_LOG). Error: a setting that means nothing, or no memory.
Result<RunMemory> make_run_memory(const RunOptions& options);

}  // namespace anyperf::broker
