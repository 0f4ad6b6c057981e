// own_stack.h: a stack for anyperf itself, where RLIMIT_STACK leaves too little. A user sets that limit for the program
// that is measured; it stays as it is, because the program inherits it.
#pragma once

#include <functional>

namespace anyperf::cli {

/// Calls `body` and returns what it returns. If the soft limit on the stack is low, `body` runs on memory that was
/// mapped for it, and threads that it starts have stacks of a usual size; else, or without memory, it runs on the
/// caller's stack. `body` must not throw.
int with_enough_stack(const std::function<int()>& body);

}  // namespace anyperf::cli
