// watch.h: makes a thread stop before instructions at chosen addresses, and around instructions that touch chosen
// memory: attached::about_to_run and has_run are called there. Exact, for that thread alone; while nobody watches,
// translated code is as it always is.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// What `thread`, which is the caller, watches from now on. Code that does not fit is left at its next exit.
void set_watches(Thread& thread, const Watches& watches);

/// In a fork's child: the watches of the parent's threads are nobody's here.
void forget_watches(Thread& thread);

/// Every thread of the process stops before this instruction, once more for each call; attached::about_to_run is
/// called.
void watch_code(Engine& engine, std::uint64_t pc);
void unwatch_code(Engine& engine, std::uint64_t pc);

/// Whenever a thread comes to this address by a return or another indirect branch attached::arrived is called. False:
/// no room.
bool watch_target(Engine& engine, std::uint64_t pc);
/// None is watched any more.
void unwatch_targets(Engine& engine);

/// Of a thread that ends, or whose memory another one gives back.
inline void stop_watching(Thread& thread) {
    set_watches(thread, {});
}

}  // namespace anyperf::engine
