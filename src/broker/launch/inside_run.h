// inside_run.h: whether this process is a program of a run. The engine answers a prctl(2) option of its own, which the
// kernel refuses with EINVAL.
#pragma once

namespace anyperf::broker {

/// True under `anyperf run`: then perf_event_open(2) is served by the run, with its virtual PMU.
bool inside_run();

}  // namespace anyperf::broker
