// own_stack.h: a stack for anyperf itself, where RLIMIT_STACK leaves too little. Users set that limit for the measured
// program, which inherits it, so anyperf does not change it.
#pragma once

#include <functional>

namespace anyperf::cli {

/// Calls `body` and returns what it returns. If the soft limit on the stack is below 1 MiB, `body` runs on 8 MiB that
/// are mapped for it, and threads that it starts have stacks of that size. Otherwise, or if the memory cannot be
/// mapped, it runs on the caller's stack. `body` must not throw.
int with_enough_stack(const std::function<int()>& body);

}  // namespace anyperf::cli
