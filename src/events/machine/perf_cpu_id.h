// perf_cpu_id.h: perf's identifiers of CPUs other than x86, which mapfile.csv of perf's lists has patterns for
// (get_cpuid_str() in tools/perf/arch/*/util/header.c of Linux).
#pragma once

#include <string>
#include <vector>

#include "events/catalog/detection/cpu.h"
#include "host/hardware/pmu.h"
#include "host/root.h"

namespace anyperf::events {

/// The identifiers of the machine's CPUs, one for each kind of core: "0x00000000410fd0c0" (ARM: MIDR without variant
/// and revision), "0x004e0000" (POWER: the version of PVR), "IBM,2964,,,3.5,0" (s390x: machine and counter facility),
/// "0x489-0x8000000000000007-0x0" (RISC-V: mvendorid, marchid, mimpid). Empty for x86 and if the files don't say.
std::vector<std::string> perf_cpu_ids(const catalog::Cpu& cpu, const host::Root& root);

/// The identifier of the cores of an ARM PMU, by the register of its first CPU; empty if it can't be read.
std::string arm_id_of(const host::Pmu& pmu, const host::Root& root);

}  // namespace anyperf::events
