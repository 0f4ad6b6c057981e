// memory_limits.h: RLIMIT_AS and RLIMIT_DATA of the program, which the engine enforces itself: limits.cpp says why.
// memory_limits.cpp measures how much memory the program has, without the engine's.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Whether the process has a finite soft limit that the engine keeps. A limit in the kernel does not count here.
bool has_memory_limit(const Thread& thread);

/// Whether the program's memory may grow by `bytes`, a multiple of the page size; `is_data`: it is private memory that
/// can be written, and no stack. As the kernel's may_expand_vm(): 0 bytes do not fit if there is too much data already,
/// as after data was mapped over other memory. Always true without a limit. It reads files of
/// /proc/self: some microseconds, with RLIMIT_DATA some hundred. The cache's lock must not be held.
bool fits_memory_limits(const Thread& thread, std::uint64_t bytes, bool is_data);

/// The same for memory that is mapped already and becomes data: only RLIMIT_DATA counts.
bool fits_data_limit(const Thread& thread, std::uint64_t bytes);

/// Whether the break may be at `end` by RLIMIT_DATA alone: break and initialised data together (brk(2)).
bool fits_break(const Thread& thread, std::uint64_t end);

/// Whether the program has more than its limits allow, right after it was loaded.
bool exceeds_memory_limits(const Thread& thread);

/// How many of these bytes are mapped.
std::uint64_t mapped_bytes(std::uint64_t start, std::uint64_t bytes);
/// How many are in private mappings other than the stack.
std::uint64_t private_bytes(std::uint64_t start, std::uint64_t bytes);
/// How many of those can be written. The kernel calls them data.
std::uint64_t data_bytes(Engine& engine, std::uint64_t start, std::uint64_t bytes);

}  // namespace anyperf::engine
