#include "pmu/cpu/cpu_models.h"

namespace anyperf::pmu {

CpuModel skylake_model_of_host() {
    // The AVX-512 features that -march=skylake-avx512 adds to -march=skylake.
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl");
    return has_avx512 ? CpuModel::skylake_server : CpuModel::skylake_client;
}

}  // namespace anyperf::pmu
