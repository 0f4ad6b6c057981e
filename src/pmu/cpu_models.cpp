// cpu_models.cpp: see cpu_models.h.
#include "pmu/cpu_models.h"

namespace anyperf::pmu {

CpuModel model_of_features() {
    // What -march=skylake-avx512 adds to skylake.
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl");
    return has_avx512 ? CpuModel::skylake_server : CpuModel::skylake_client;
}

}  // namespace anyperf::pmu
