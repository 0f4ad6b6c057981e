// dispatch.h: what happens when translated code gives control back, and how the application goes on afterwards.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Behind every leave: does what the leave asks for and sets Thread::next_host. Runs on the thread's engine stack.
void dispatch(Thread& thread);

/// Goes on with the application at Thread::registers, from engine code that has nothing left to do.
[[noreturn]] void resume(Thread& thread);

}  // namespace anyperf::engine
