// cpuinfo.h: /proc/cpuinfo as it is on a CPU of identity.h. It must agree with CPUID (cpuid_identity.h), because some
// programs read the one and some the other.
#pragma once

#include <string>
#include <string_view>

#include "pmu/cpu/identity.h"

namespace anyperf::pmu {

/// The host's /proc/cpuinfo with the identity replaced. The number of CPUs and the topology remain the host's. So do
/// the flags, except those of features that the engine hides and of AMD's counters. A deterministic run hides the
/// instructions for random numbers as well.
std::string virtual_cpuinfo(std::string_view host, const CpuIdentity& cpu, bool deterministic);

}  // namespace anyperf::pmu
