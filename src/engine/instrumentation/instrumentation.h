// instrumentation.h: breakpoints, watchpoints and branch recording for the agent, done by translating code differently
// (the structures are in state.h). Before an instruction with a breakpoint, and before and after one that accesses
// watched memory, hooks::before_single_step and after_single_step are called. They are exact and, but for
// add_breakpoint(), for one thread alone. While nothing is instrumented, code is translated as usual and pays nothing.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// Replaces what is instrumented for `thread`, which is the caller. Translations that lack it are left at their next
/// exit. A breakpoint for which the process has no room is left out.
void set_instrumentation(Thread& thread, const ThreadInstrumentation& wanted);

/// In a fork's child: forgets what the parent's threads had instrumented.
void reset_instrumentation(Thread& thread);

/// Adds a breakpoint for every thread of the process; it counts its users. False if there is no room: it is not there,
/// and must not be removed.
bool add_breakpoint(Engine& engine, std::uint64_t pc);
void remove_breakpoint(Engine& engine, std::uint64_t pc);

/// Has hooks::at_return_target called whenever a thread reaches `pc` by a return or another indirect branch. False
/// if there is no room.
bool add_return_target(Engine& engine, std::uint64_t pc);
void clear_return_targets(Engine& engine);

/// For a thread that ends, or before another thread frees its memory.
inline void clear_instrumentation(Thread& thread) {
    set_instrumentation(thread, {});
}

}  // namespace anyperf::engine
