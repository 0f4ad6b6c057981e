// drain_threads.h: which threads empty the rings of a recording (record --threads), in perf's words: one for each CPU,
// core, socket or NUMA node, or as the user's masks say (perf-record(1), "--threads").
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::recording {

struct DrainThread {
    std::vector<int> rings;     ///< the CPUs whose rings the thread empties
    std::vector<int> affinity;  ///< the CPUs that it runs on; empty: any
};

/// The threads for recorded CPUs. `spec`: "cpu" (or empty), "core", "package", "numa", or masks "0,2-4/2-4:1/1", each
/// the CPUs of the rings and those that the thread runs on. As in perf, CPUs that are not recorded are ignored. Error:
/// the spec has another form, two masks overlap, a mask has no recorded CPU, or a recorded CPU is in no mask.
Result<std::vector<DrainThread>> drain_threads(std::string_view spec, std::span<const int> cpus,
                                               const host::Root& root);

}  // namespace anyperf::recording
