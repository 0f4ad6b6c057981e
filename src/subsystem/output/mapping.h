// mapping.h: mmap of an event (perf_event_open(2), "MMAP layout"; perf_mmap() of Linux 6.18). The ring is made with the
// first mapping and freed with the last. poll(2) of an event is here too, since its answer depends on the ring.
#pragma once

#include "subsystem/requests.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The first mapping makes the ring and charges it to the caller; a further one must have the same size. EPERM with
/// PROT_EXEC or above the limits of locked memory; EINVAL for one that is not shared, has a wrong size or offset, or is
/// of an event with inherit that is bound to no CPU; EBUSY for a further mapping if the ring is another event's; ENOMEM
/// if there is no room; EOPNOTSUPP for an AUX area.
Answer<Mapping> map_event(World& world, Event& event, const MapRequest& request);
/// Frees the ring with its last mapping, and the event if it has no descriptor either.
void unmap_event(World& world, Event& event, const Mapping& mapping);
/// Reports a pending wake-up once: it is cleared.
PollState poll_event(World& world, const Event& event);

}  // namespace anyperf::subsystem
