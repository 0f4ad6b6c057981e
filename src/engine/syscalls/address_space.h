// address_space.h: the limit that a program has set on its own address space (RLIMIT_AS).
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Whether there is one.
bool limits_address_space(const Thread& thread);

/// Whether the program's memory may grow by `more` bytes, of whole pages. The engine's own memory is not counted.
bool fits_address_space(const Thread& thread, std::uint64_t more);

}  // namespace anyperf::engine
