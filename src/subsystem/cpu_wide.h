// cpu_wide.h: events of a CPU (pid -1). What the tasks of the run do there is counted by a child event in each of them,
// so that an event page belongs to one thread; the opened event itself has the CPU's time, and the sum.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The event has been opened: every task of the run gets its part in it.
void join_cpu(World& world, Event& event);
/// A task is new, or new to us: its parts in all cpu-wide events.
void join_cpus(World& world, Task& task);

}  // namespace anyperf::subsystem
