// threads.h: the threads of this process, so that one of them can wait until no other is in translated code.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// A thread is known from before it runs until its memory is given back.
void add_thread(Engine& engine, Thread& thread);
void remove_thread(Thread& thread);

/// In a fork's child, which has only the thread that called.
void only_thread(Engine& engine, Thread& thread);

/// Frees all translations, where they take more memory than they may: every thread leaves them first.
/// Precondition: the cache's lock is held, and this thread is not in translated code.
void empty_cache(const Thread& self);

}  // namespace anyperf::engine
