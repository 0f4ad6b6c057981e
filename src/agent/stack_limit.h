// stack_limit.h: how many addresses a call chain has at most.
#pragma once

#include <cstddef>

namespace anyperf::agent {

inline constexpr std::size_t kDeepestStack = 127;  ///< perf_event_max_stack of the presented machine

}  // namespace anyperf::agent
