// traces.h: which paths of a thread become traces (x86_64/traces/trace.cpp).
//
// PROBLEM. A loop or a function that runs often consists of several blocks, which are entered through jumps, and
// through the table of indirect entries after each return. The order of blocks in memory is that in which they were
// first met.
//
// MECHANISM. A block that may begin a loop or a function counts how often it is executed (Cache::heat). One that has
// become hot leaves to the engine, which begins a path: the thread continues by *legs*, blocks that end with their
// first branch and always lead to the engine (kPathLeg). So the engine sees where each branch goes. The path ends
// where it would
// - come back to one of its legs, or to a block that is a trace already, other than by a call or a return;
// - return from the function that it began in;
// - leave translated code, as at a system call, or become too long;
// - go to code whose translation is in another arena: exits to there are never linked.
// Then the legs are translated as one block, the trace, which takes the place of the block that was hot. What a thread
// does next is most likely what is done most often, so one path is enough (the "next executing tail" of Duesterwald and
// Bala).
//
// What follows a trace is mostly not the start of a loop. So an exit of a trace counts how often it is taken, and its
// target may become the head of the next trace.
//
// A path lives in Thread::path. It ends without a trace when the thread enters any other block: a signal has been
// delivered, or the process has changed its ways (set_next_block()).
//
// In a process with budgets a leg whose lane is exhausted is entered again, and the path goes on. Where the whole
// budget ends, the path does; and a thread whose budget is short makes no traces.
//
// LIMITS. There are no traces in processes that record branches or accesses, watch memory, feed models with records or
// count exactly, in code that is compared at each entry, and where returns are paired; nor where code predicts branches
// while there are budgets or open calls are noted. There a block has no counter of executions. What changes any of this
// removes all translations, traces among them. A trace with code in a changed range is removed as a block is
// (Cache::remove_range).
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Whether the thread is on a path.
inline bool is_on_path(const Thread& thread) {
    return thread.path.count != 0;
}

/// Adds a leg to the thread's path: `leg` is what the thread enters next. A block that is no leg ends the path.
/// Precondition: as of set_next_block().
void add_leg(Thread& thread, const Block& leg);

/// The thread's last leg has not run, and will be added again. Precondition: the thread is on a path.
void remove_last_leg(Thread& thread);

/// Whether the path goes on at `next`, where the thread's last leg has led. Precondition: the thread is on a path.
bool path_goes_on(Thread& thread, std::uint64_t next);

/// Ends the path, and makes a trace of it if possible.
void finish_path(Thread& thread);

/// Makes an exit that has just been linked to `to` count how often it is taken, if it leaves a trace
/// (x86_64/traces/trace_heads.h). Precondition: the cache's lock is held.
void count_exit(Thread& thread, ExitId id, Block& to);

}  // namespace anyperf::engine
