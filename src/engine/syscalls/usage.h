// usage.h: what calls that wait for a child do with the usage that the kernel reports of it.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// Takes the engine's page faults out of the rusage of the child at `usage` (0: none was asked for). `reaped`: the
/// child is gone, and its usage is part of RUSAGE_CHILDREN now.
void correct_usage_of_child(const Thread& thread, std::int32_t child, std::uint64_t usage, bool reaped);

// time/clocks.cpp: usage in a deterministic run: the CPU time by what has retired, and nothing else.

/// Replaces the rusage of the child at `usage` (0: none was asked for).
void make_usage_virtual(const Thread& thread, std::int32_t child, std::uint64_t usage, bool reaped);
/// Replaces what getrusage(2) has stored at `usage` for `who`.
void make_own_usage_virtual(Thread& thread, std::int32_t who, std::uint64_t usage);

}  // namespace anyperf::engine
