// address_space.h: the limit that a program has set on its own address space (RLIMIT_AS), which the engine enforces
// itself: limits.cpp says why.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Whether the process has a finite soft limit that the engine keeps. A limit in the kernel does not count here.
bool has_address_space_limit(const Thread& thread);

/// Whether the program's memory may grow by `more` bytes, a multiple of the page size. Always true without a limit. The
/// engine's own memory is not counted. It reads /proc/self/statm, some microseconds.
bool fits_address_space_limit(const Thread& thread, std::uint64_t more);

}  // namespace anyperf::engine
