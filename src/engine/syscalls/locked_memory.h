// locked_memory.h: mlockall(2) of the program's memory. In the kernel it would lock the gigabyte that the engine
// reserves, too, and fail at a limit (RLIMIT_MEMLOCK) that the program keeps. So the engine locks the program's
// mappings one by one, and those that it makes later as they are made.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// The checks of mlockall(2). Returns 0 or a negated errno: EPERM without any right to lock memory; ENOMEM if `all` of
/// the program's memory is to be locked now and is larger than RLIMIT_MEMLOCK.
long check_lock_limit(bool all);

/// Locks every mapping of the program, as they are touched if `on_fault`.
void lock_current_memory(bool on_fault);

/// MAP_LOCKED if the program's future mappings are locked at once, else 0.
std::uint64_t map_flags_of_future_locks(const Engine& engine);

/// If future memory is locked, locks this new memory, as far as its mapping has not done that. False if RLIMIT_MEMLOCK
/// does not permit it.
bool lock_new_memory(const Engine& engine, std::uint64_t start, std::uint64_t bytes);

}  // namespace anyperf::engine
