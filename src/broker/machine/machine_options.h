// machine_options.h: the user's choices about the virtual machine of a run.
#pragma once

#include "pmu/cpu/cpu_models.h"

namespace anyperf::broker {

struct MachineOptions {
    unsigned counters = 0;  ///< general-purpose counters of the virtual PMU; 0: as many as there are events
    pmu::CpuModel cpu_model = pmu::skylake_model_of_host();  ///< what CPUID and /proc/cpuinfo say
};

}  // namespace anyperf::broker
