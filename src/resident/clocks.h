// clocks.h: events that sample by time: cpu-clock and task-clock. A timer of the thread's own ends its periods.
#pragma once

#include "resident/process.h"

namespace anyperf::resident {

/// Counts time, which goes on while no instruction is counted.
bool counts_time(const subsystem::Source& source);

/// Sets the thread's timer to the nearest end of a period of its clocks, or takes it away where it has none.
void set_alarm(engine::Thread& thread);

/// The timer goes, before its thread does.
void drop_alarm(engine::Thread& thread);

}  // namespace anyperf::resident
