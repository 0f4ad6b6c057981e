// update_active_events.h: keeps the engine up to date with the thread's active events: which classes it counts, where
// it stops the thread, which system calls it reports, and how far the thread may run before an event overflows.
#pragma once

#include "engine/engine.h"

namespace anyperf::agent {

/// Makes the engine count and watch what the thread's events need, handles the overflows that are due, and grants the
/// budget up to the next one. To be called by the thread itself, with exact registers, whenever its events may have
/// changed.
void update_active_events(engine::Thread& thread);

}  // namespace anyperf::agent
