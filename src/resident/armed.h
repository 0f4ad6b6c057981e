// armed.h: the events that count on a thread: what the engine has to count for them, and how far the thread may run
// before one of them overflows.
#pragma once

#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// The thread's list may have changed: counts what its events need, and grants what is left to the next overflow.
void settle(Thread& thread);

/// The grant has ended: what overflows here does, then the next one.
void next_grant(Thread& thread);

}  // namespace anyperf::resident
