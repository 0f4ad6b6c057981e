// cpuinfo.h: /proc/cpuinfo of a CPU of identity.h.
#pragma once

#include <string>
#include <string_view>

#include "pmu/identity.h"

namespace anyperf::pmu {

/// The host's /proc/cpuinfo with the identity put in its place: as many CPUs, topology and features as the host's.
std::string virtual_cpuinfo(std::string_view host, const CpuIdentity& cpu);

}  // namespace anyperf::pmu
