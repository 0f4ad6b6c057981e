// machine.cpp: see machine.h.
#include "broker/machine.h"

#include <unistd.h>

#include <algorithm>

#include "pmu/identity.h"

namespace anyperf::broker {

namespace {

subsystem::Limits limits_of_machine() {
    subsystem::Limits limits;
    limits.cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    return limits;
}

}  // namespace

Server::Machine::Machine(RunMemory& memory, const MachineOptions& options, MachineFiles& files,
                         pmu::TracepointPmu& tracepoints, pmu::ProbePlaces& places)
    : host(memory, limits_of_machine(), files),
      cpu({.generic_counters = options.counters, .branch_entries = pmu::kBranchEntries}),
      software({.modelled_time = memory.header().deterministic != 0}),
      uprobe(places),
      subsystem(host, {&cpu, &software, &breakpoint, &tracepoints, &uprobe}) {}

}  // namespace anyperf::broker
