// dispatch.h: one pass of the engine's main loop. Translated code runs until it exits with an ExitReason; an exit
// routine calls dispatch(), which handles the exit and chooses the next block; the entry routine goes there.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Called after each exit from translated code, on the thread's engine stack: handles the exit reason and sets
/// Thread::next_host, where the entry routine continues.
void dispatch(Thread& thread);

/// Enters the application at Thread::registers, from engine code that does not return (after a signal, at start).
[[noreturn]] void resume(Thread& thread);

}  // namespace anyperf::engine
