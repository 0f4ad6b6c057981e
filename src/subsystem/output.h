// output.h: which ring an event's records go to: its own, another event's (SET_OUTPUT, FD_OUTPUT), or none.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// EINVAL where the records of `event` may not go where those of `target` go.
Answer<> check_output(World& world, const Event& event, const Event& target);
/// As checked.
void redirect(World& world, Event& event, const Event& target);
/// The event's records, and those of its children, go to this ring from now on; 0: nowhere.
void set_ring(World& world, Event& event, RingIndex ring);
/// Who polls an event that writes to the ring has something to see.
void wake_readers(World& world, RingIndex ring);
/// It writes nowhere any more.
void drop_ring(World& world, Event& event);

}  // namespace anyperf::subsystem
