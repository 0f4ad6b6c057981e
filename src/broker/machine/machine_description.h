// machine_description.h: what describes the presented machine to programs: its options, its tracepoints and probes, and
// the files that list them. It exists from the start of a run. The machine itself (presented_machine.h) is made when
// the first event is opened, and uses the description.
#pragma once

#include <cstdint>

#include "broker/machine/machine_options.h"
#include "broker/machine/presented_machine_files.h"
#include "broker/run_memory.h"
#include "pmu/tracing/probe_events.h"
#include "pmu/tracing/tracepoint_pmu.h"
#include "pmu/tracing/uprobe_pmu.h"

namespace anyperf::broker {

/// The order of the members is that of their construction: each may use those before it.
struct MachineDescription {
    /// `memory` must outlive the description.
    MachineDescription(RunMemory& memory, const MachineOptions& chosen);

    /// Makes part `part` of the files (below run::kFileParts) if that has not been done. Returns whether it is there.
    /// `files_made` in the run's header is 1 for success and 2 for failure, for all programs.
    bool make_files(std::uint32_t part);

    RunMemory& memory;
    MachineOptions options;
    MachineFiles files;
    pmu::ProbeTable places;  ///< where code is probed, in shared memory
    pmu::ProbeEvents probes;
    pmu::TracepointPmu tracepoints;
};

}  // namespace anyperf::broker
