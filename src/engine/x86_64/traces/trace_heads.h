// trace_heads.h: where a trace that is left often leads becomes the head of another one.
//
// PROBLEM. A path of 64 instructions seldom covers a whole loop. What follows a trace, after its end or a side exit, is
// mostly the middle of code that no branch goes back to, so its blocks count no executions.
//
// MECHANISM. When an exit of a trace is linked to a block that does not count, its operand leads to a counter of its
// own, and that leads to the block:
//
//   66 65 83 04 25 HEAT STEP     add  $STEP, %gs:HEAT          as a block's own counter (trace.cpp)
//   0f 82 HOT                    jc   HOT
//   e9 BLOCK                     jmp  BLOCK
//   HOT:                         an exit to the engine, ExitReason::hot, with the block's number
//
// The code is in the arena's cold part, and is used only where the flags are dead at the block. Once the block has
// become a trace it is removed, so the exit is linked anew, without a counter. A thread that is still in the old code
// enters the old block, as any thread that has fetched an old operand (cache/cache.h). Nothing here faults.
#pragma once

#include "engine/cache/cache.h"

namespace anyperf::engine::x86_64 {

/// Makes an exit that has just been linked to `to` count, if it leaves a trace and `to` has no counter. Without room it
/// stays as it is. It reads code, so call it in a guarded_run(). Precondition: the cache's lock is held.
void count_exit_of_trace(Cache& cache, ExitId id, Block& to);

}  // namespace anyperf::engine::x86_64
