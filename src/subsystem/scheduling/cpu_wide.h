// cpu_wide.h: cpu-wide events (pid -1). In each task of the run a child event counts what that task does on the CPU,
// because an event page belongs to one thread. The opened event itself has the CPU's time; a read adds the children up.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The event has been opened: creates its child in each task of the run.
void add_cpu_wide_event(World& world, Event& event);
/// The task is new: creates its children of all cpu-wide events.
void join_cpu_wide_events(World& world, Task& task);

}  // namespace anyperf::subsystem
