// thread_memory.h: the memory of a thread of the engine: its %gs block, its engine stack, its signal stack.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

inline constexpr std::uint64_t kEngineStackBytes = 65536;
inline constexpr std::uint64_t kSignalStackBytes =
    65536;  ///< a kernel's signal frame takes 3.4 KiB with AVX-512, 12 with AMX

/// A thread that is not running yet; null where memory ran out. Its counters are in the run's memory where there is
/// one.
Thread* new_thread(Engine& engine);

/// Gives its memory back. Not for the thread itself.
void free_thread(Thread& thread);

/// Makes `thread` the one that this kernel thread is: %gs and the stack for signals.
void become(Thread& thread);

/// Gives `thread` the table of signal actions that `parent` has, or a copy of it. False where memory ran out.
bool share_signal_actions(Thread& thread, Thread& parent);
bool own_signal_actions(Thread& thread, Thread& parent);

/// The table of a process that begins. False where memory ran out.
bool new_signal_actions(Thread& thread);

}  // namespace anyperf::engine
