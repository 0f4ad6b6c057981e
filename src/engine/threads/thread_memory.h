// thread_memory.h: the memory of a thread of the engine: its %gs block (the Thread), its engine stack and its signal
// stack, in one mapping with guard pages between them.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Makes the memory of a thread that does not run yet, and adds it to the list of threads. Null if memory ran out. The
/// thread counts in private memory until open_thread_page().
Thread* new_thread(Engine& engine);

/// Removes the thread from the list and frees its memory. Not for the calling thread.
void free_thread(Thread& thread);

/// Makes the calling kernel thread run as `thread`: sets %gs and the alternate signal stack.
void bind_to_kernel_thread(Thread& thread);

/// Gives `thread` the table of signal actions of `parent`, or a copy of it. False if memory ran out.
bool share_signal_actions(Thread& thread, Thread& parent);
bool copy_signal_actions(Thread& thread, Thread& parent);

/// Gives the first thread of a process an empty table. False if memory ran out.
bool new_signal_actions(Thread& thread);

}  // namespace anyperf::engine
