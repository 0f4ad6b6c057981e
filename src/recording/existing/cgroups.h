// cgroups.h: makes a CGROUP record of each cgroup that existed before the events were opened. Samples have the
// number of their task's cgroup (PERF_SAMPLE_CGROUP); these records have the names.
#pragma once

#include "recording/existing/processes.h"

namespace anyperf::recording {

/// Those of the hierarchy that events use, as perf makes them (tools/perf/util/synthetic-events.c,
/// perf_event__synthesize_cgroups()). None if no such hierarchy is mounted.
void put_cgroups(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink);

}  // namespace anyperf::recording
