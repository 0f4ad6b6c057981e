// probe_hits.h: a thread comes to the address of a uprobe, or returns from a function with probed returns.
#pragma once

#include "agent/process.h"

namespace anyperf::agent {

/// Called before the instruction at the thread's rip runs: reports a hit to the thread's events at that address, and
/// waits for the function's return if an event counts returns. True if a hit was reported: if the instruction is begun
/// again, it must not be reported again.
bool report_probe_hit(engine::Thread& thread);

/// Called where an indirect branch has reached the return address of a pending return: reports the return of each call
/// that the stack pointer has just left.
void report_probe_return(engine::Thread& thread);

}  // namespace anyperf::agent
