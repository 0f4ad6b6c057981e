// presented_machine.cpp: puts the presented machine together.
#include "broker/machine/presented_machine.h"

#include <unistd.h>

#include <algorithm>

#include "pmu/cpu/identity.h"

namespace anyperf::broker {

namespace {

/// The kernel's defaults, with as many CPUs as this machine may have.
subsystem::Limits limits_of_machine() {
    subsystem::Limits limits;
    limits.cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    return limits;
}

}  // namespace

PresentedMachine::PresentedMachine(RunMemory& memory, MachineDescription& description, RunThreads& threads)
    : host(memory, threads, limits_of_machine(), description.files),
      cpu({.generic_counters = description.options.counters, .branch_entries = pmu::kBranchEntries}),
      software({.run_clock = memory.header().deterministic != 0}),
      uprobe(description.places),
      subsystem(host, {&cpu, &software, &breakpoint, &description.tracepoints, &uprobe}) {}

}  // namespace anyperf::broker
