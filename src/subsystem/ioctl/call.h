// call.h: an ioctl of an event on its way to its handler.
#pragma once

#include "subsystem/subsystem.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

struct IoctlCall {
    World& world;
    const TaskName& caller;
    Event& event;
    const IoctlArgument& argument;
};

using IoctlHandler = Answer<IoctlAnswer> (*)(const IoctlCall&);

/// What a pointer to a u64 holds; EFAULT where it can't be read.
Answer<std::uint64_t> fetch_u64(const IoctlArgument& argument);

}  // namespace anyperf::subsystem
