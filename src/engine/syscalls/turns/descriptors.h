// descriptors.h: what a descriptor is to threads that take turns.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turn_calls {

/// A file by its descriptor.
struct File {
    bool is_regular = false;  ///< it never waits
    bool is_socket = false;
    bool outside = false;  ///< others than the run may change what it has: the run was given it, or it is a device or a
                           ///< socket of a network
    std::uint64_t pipe = 0;  ///< the inode, if it is a pipe; else 0
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
};

File file_of(const Engine& engine, std::uint64_t fd);

}  // namespace anyperf::engine::turn_calls
