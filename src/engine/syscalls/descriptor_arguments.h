// descriptor_arguments.h: which arguments of system calls are file descriptors. The engine keeps a few descriptors in
// the application's table (own_descriptors.h). A call that names one of them fails as if it were not open.
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// The arguments of the call that are descriptors: bit N is argument N, counted from 0.
std::uint8_t descriptor_arguments(std::uint64_t syscall);

/// Whether the call uses one of the engine's descriptors. The caller answers EBADF then.
bool uses_hidden_descriptor(const Call& call);

}  // namespace anyperf::engine
