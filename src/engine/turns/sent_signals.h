// sent_signals.h: what a signal that a thread of the run sends to another one changes in the order of turns.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turns {

/// Signal `signal` was sent to process `pid`, or to its thread `tid` (0: any).
void note_signal(Thread& thread, std::int32_t pid, std::int32_t tid, int signal);

}  // namespace anyperf::engine::turns
