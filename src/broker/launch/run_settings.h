// run_settings.h: the settings of a run, which its programs read from the header of its memory (run/run_state.h).
// They are complete before the first program starts.
#pragma once

#include "anyperf/error.h"
#include "broker/launch/run_options.h"
#include "broker/run_memory.h"

namespace anyperf::broker {

/// Makes a run's memory with the settings of the options and of the environment (ANYPERF_ENGINE_CACHE,
/// ANYPERF_ENGINE_LOG, ANYPERF_ENGINE_PAIR_RETURNS, ANYPERF_ENGINE_SEPARATE_WRITES). Error: a setting that is not
/// valid, or as of RunMemory::make().
Result<RunMemory> make_run_memory(const RunOptions& options);

}  // namespace anyperf::broker
