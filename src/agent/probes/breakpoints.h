// breakpoints.h: events of the breakpoint PMU on the thread that they watch. No debug register is used: the engine
// stops the thread at the address, or around an instruction that may access the memory
// (engine/instrumentation/instrumentation.h). Hits are in breakpoint_hits.cpp.
#pragma once

#include "agent/process.h"

namespace anyperf::agent {

/// Whether the event is a breakpoint that counts.
bool is_breakpoint(const EventPage& event);

/// Whether the breakpoint is at an instruction. If not, it watches writes to memory.
bool breaks_on_execution(const EventPage& event);
/// Whether it watches reads as well.
bool breaks_on_read(const EventPage& event);

/// Adds the address or memory of a counting breakpoint to `watches`; does nothing for other events. What finds no room
/// there is not watched.
void add_watches(const EventPage& event, engine::ThreadInstrumentation& watches);

}  // namespace anyperf::agent
