// call.h: an ioctl on an event with its argument fetched, as all handlers get it.
#pragma once

#include "subsystem/requests.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

struct IoctlCall {
    World& world;
    const TaskId& caller;
    Event& event;
    const IoctlArgument& argument;
};

using IoctlHandler = Answer<IoctlAnswer> (*)(const IoctlCall&);

}  // namespace anyperf::subsystem
