// usage.h: what calls that wait for a child do with the usage that the kernel reports of it.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Takes the engine's page faults out of the rusage of the child at `usage` (0: none was asked for). `reaped`: the
/// child is gone, and its usage is part of RUSAGE_CHILDREN now.
void correct_usage_of_child(const Thread& thread, std::int32_t child, std::uint64_t usage, bool reaped);

}  // namespace anyperf::engine
