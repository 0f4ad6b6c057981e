// machine.h: the virtual machine of a run: the subsystem, its host, its PMUs.
#pragma once

#include "broker/run_host.h"
#include "broker/server.h"
#include "pmu/breakpoint.h"
#include "pmu/cpu.h"
#include "pmu/software.h"
#include "pmu/tracepoint.h"
#include "pmu/uprobe.h"
#include "subsystem/subsystem.h"

namespace anyperf::broker {

struct Server::Machine {
    Machine(RunMemory& memory, const MachineOptions& options, MachineFiles& files, pmu::TracepointPmu& tracepoints,
            pmu::ProbePlaces& places);

    RunHost host;
    pmu::CpuPmu cpu;
    pmu::SoftwarePmu software;
    pmu::BreakpointPmu breakpoint;
    pmu::UprobePmu uprobe;
    subsystem::Subsystem subsystem;
};

}  // namespace anyperf::broker
