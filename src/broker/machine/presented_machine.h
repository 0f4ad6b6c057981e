// presented_machine.h: the presented machine of a run: the subsystem, its host, its PMUs. The order of the members is
// that of their construction: the subsystem uses all others.
#pragma once

#include "broker/host/run_host.h"
#include "broker/machine/machine_description.h"
#include "pmu/breakpoint_pmu.h"
#include "pmu/cpu/cpu_pmu.h"
#include "pmu/software_pmu.h"
#include "pmu/tracing/uprobe_pmu.h"
#include "subsystem/subsystem.h"

namespace anyperf::broker {

struct PresentedMachine {
    /// All arguments must outlive the machine.
    PresentedMachine(RunMemory& memory, MachineDescription& description, RunThreads& threads);

    RunHost host;
    pmu::CpuPmu cpu;
    pmu::SoftwarePmu software;
    pmu::BreakpointPmu breakpoint;
    pmu::UprobePmu uprobe;
    subsystem::Subsystem subsystem;
};

}  // namespace anyperf::broker
