// breakpoints.h: events of the breakpoint PMU on the thread that they watch. No debug register is used: the engine
// stops the thread at the address, or around an instruction that may access the memory
// (engine/instrumentation/instrumentation.h). Hits are in breakpoint_hits.cpp.
#pragma once

#include "agent/process.h"

namespace anyperf::agent {

/// Whether the event is a breakpoint that can count. One with exclude_user cannot (breakpoint_pmu.cpp).
bool is_breakpoint(const EventPage& event);

/// Whether the breakpoint is at an instruction. If not, it watches writes to memory.
bool breaks_on_execution(const EventPage& event);
/// Whether a breakpoint on memory watches reads as well.
bool breaks_on_read(const EventPage& event);

/// Adds the event's address or memory to `watches` if is_breakpoint(event). An address or memory that does not fit is
/// not watched.
void add_watches(const EventPage& event, engine::ThreadInstrumentation& watches);

}  // namespace anyperf::agent
