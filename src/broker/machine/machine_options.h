// machine_options.h: the user's choices about the presented machine of a run.
#pragma once

#include <string>

#include "models/machines/presets.h"
#include "pmu/cpu/cpu_models.h"

namespace anyperf::broker {

struct MachineOptions {
    unsigned counters = 0;  ///< general-purpose counters of the virtual PMU; 0: as many as there are events
    pmu::CpuModel cpu_model = pmu::skylake_model_of_host();  ///< what CPUID and /proc/cpuinfo say
    models::Machine modelled =
        models::find_preset("skx")->machine;  ///< the caches, TLBs and branch predictors that are modelled
    std::string modelled_name = "skx";        ///< its name, or the file that describes it
};

}  // namespace anyperf::broker
