// group_lock.h: the group lock, as the subsystem holds it.
//
// An event's own thread may enable, disable and reset its group without a request (shared/local_toggle.h), under the
// leader's EventPage::group_lock. If the subsystem read requested states, decided, and wrote states without that lock,
// a toggle in between would be lost. So it locks a group when it first reads the requested state of a member in order
// to change something, and keeps the lock until the call ends: a call may visit the same group several times, and
// between the visits no toggle may interfere. Group locks come before page locks and ring locks.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Locks the event's group until the call ends. Does nothing if the subsystem has it already.
void lock_group(World& world, Event& event);

/// Unlocks one group early, because its leader is about to be freed.
void unlock_group(World& world, Event& leader);
/// Unlocks all groups: the end of a call.
void unlock_groups(World& world);

}  // namespace anyperf::subsystem
