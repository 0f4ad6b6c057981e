// breakpoint_hits.h: breakpoints are reported as the CPU's debug registers report them (SDM volume 3, "Debug
// exceptions"): an execution before its instruction runs, an access after its instruction has run, and each iteration
// of a REP. The resume flag keeps an instruction that is begun again from being reported twice. Uprobes are reported
// with the executions.
#pragma once

#include "engine/engine.h"

namespace anyperf::agent {

/// The instruction at the thread's rip is about to run by itself: reports the breakpoints and uprobes at its address,
/// unless the resume flag says that they were reported already. Sets the flag if it reported something. Remembers what
/// the instruction is about to access.
void report_execution(engine::Thread& thread);

/// That instruction has run: reports the breakpoints on memory that it accessed.
void report_accesses(engine::Thread& thread);

}  // namespace anyperf::agent
