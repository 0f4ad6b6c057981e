// sent_signals.h: a thread that has the turn has sent a signal within the run.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turns {

/// Signal `signal` was sent to process `pid`, or to its thread `tid` (0: any).
void note_signal(Thread& thread, std::int32_t pid, std::int32_t tid, int signal);

}  // namespace anyperf::engine::turns
