// thread_list.h: the list of the process's threads, and the flush of the code cache. The flush needs the list: the
// memory of translations can be freed only while no thread is in translated code.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// A thread is in the list from before it runs until its memory is freed. Both take the cache's lock.
void add_thread(Engine& engine, Thread& thread);
void remove_thread(Thread& thread);

/// In a fork's child: moves all threads but the one that called fork to Engine::lost_threads.
void keep_only_thread(Engine& engine, Thread& thread);

/// Frees all translations after all other threads have left them. Called when the cache is full (cache/cache.h).
/// Precondition: the cache's lock is held, and this thread is not in translated code.
void flush_cache(const Thread& self);

}  // namespace anyperf::engine
