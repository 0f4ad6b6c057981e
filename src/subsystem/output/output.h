// output.h: which ring an event's records go to: its own, another event's (SET_OUTPUT, FD_OUTPUT), or none. The rules
// for sharing are those of perf_event_set_output() of Linux 6.18.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// EINVAL if `event` may not write into the ring of `target`.
Answer<> check_output(World& world, const Event& event, const Event& target);
/// Sends the event's records to the ring of `target`. check_output() must have passed.
void redirect(World& world, Event& event, const Event& target);
/// Sends the records of the event and its children to this ring; 0: nowhere.
void set_ring(World& world, Event& event, RingIndex ring);
/// Reports a wake-up of the ring to the pollers of all events that write there.
void wake_readers(World& world, RingIndex ring);
/// Ends the output of the event and its children: set_ring() with 0.
void drop_ring(World& world, Event& event);

}  // namespace anyperf::subsystem
