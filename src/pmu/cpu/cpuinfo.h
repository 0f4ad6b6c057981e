// cpuinfo.h: /proc/cpuinfo as it is on a CPU of identity.h. It must agree with CPUID (cpuid_identity.h), because
// programs read either.
#pragma once

#include <string>
#include <string_view>

#include "pmu/cpu/identity.h"

namespace anyperf::pmu {

/// The host's /proc/cpuinfo with the identity replaced. The number of CPUs and the topology remain the host's, as do
/// the flags, except those of features that the run hides and of other vendors' counters.
std::string virtual_cpuinfo(std::string_view host, const CpuIdentity& cpu);

}  // namespace anyperf::pmu
