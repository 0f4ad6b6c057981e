// instrumentation.h: breakpoints, watchpoints and branch recording for the agent (the structures are in state.h). Code
// is translated differently for them; while nothing is instrumented, code is translated as usual and pays nothing.
//
// An instruction that has a breakpoint, or that accesses watched memory, runs in a block of its own: the engine calls
// hooks::before_single_step() before it and hooks::after_single_step() after it. Breakpoints and watchpoints are exact.
// They are for one thread only, except those of add_breakpoint().
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// Replaces the instrumentation of `thread`, which is the caller. Threads leave translations that lack it at the next
/// exit. A breakpoint for which the process has no room is left out.
void set_instrumentation(Thread& thread, const ThreadInstrumentation& wanted);

/// In a fork's child: removes the instrumentation of the parent's threads.
void reset_instrumentation(Thread& thread);

/// Adds a breakpoint for all threads of the process. Each call must be matched by a remove_breakpoint(). False if there
/// is no room: then it was not added and must not be removed.
bool add_breakpoint(Engine& engine, std::uint64_t pc);
void remove_breakpoint(Engine& engine, std::uint64_t pc);

/// From now on hooks::at_return_target() is called whenever a thread reaches `pc` by a return or another indirect
/// branch. False if there is no room.
bool add_return_target(Engine& engine, std::uint64_t pc);
void clear_return_targets(Engine& engine);

/// Called when a thread ends, or before another thread frees its memory.
inline void clear_instrumentation(Thread& thread) {
    set_instrumentation(thread, {});
}

}  // namespace anyperf::engine
