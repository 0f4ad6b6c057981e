// file_kinds.h: asks the kernel what a descriptor is open on, once (engine/descriptor_kinds.h).
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// What the thread's descriptor is open on; `other` if it is not open.
DescriptorKind kind_of_descriptor(const Thread& thread, std::uint64_t fd);

/// The pipe that the descriptor is open on, if that is remembered; else null.
const PipeFile* known_pipe(const Thread& thread, std::uint64_t fd);

/// Called before a call: forgets the descriptors that it closes or replaces.
void forget_closed_descriptors(DescriptorKinds& kinds, std::uint64_t number, const std::uint64_t* argument);

}  // namespace anyperf::engine
