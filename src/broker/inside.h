// inside.h: whether this process is a program of a run.
#pragma once

namespace anyperf::broker {

/// True under `anyperf run`: then perf_event_open(2) is the run's, and its virtual PMU counts.
bool inside_run();

}  // namespace anyperf::broker
