// cpu_models.h: the CPUs that a run can present to its programs, by the names of `--cpu-model`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pmu/identity.h"

namespace anyperf::pmu {

enum class CpuModel : std::uint8_t {
    skylake_server,
    skylake_client,
    host,  ///< CPUID and /proc/cpuinfo as they are
};

struct CpuModelRow {
    CpuModel model;
    std::string_view name;
    const CpuIdentity* identity;  ///< null: the host's
    std::string_view what;
};

inline constexpr std::array kCpuModels{
    CpuModelRow{CpuModel::skylake_server, "skx", &kSkylakeServer, "a Skylake server, which has AVX-512"},
    CpuModelRow{CpuModel::skylake_client, "skl", &kSkylakeClient, "a Skylake without AVX-512"},
    CpuModelRow{CpuModel::host, "host", nullptr, "the CPU of this machine"},
};

constexpr const CpuIdentity* identity_of(CpuModel model) {
    for (const CpuModelRow& row : kCpuModels)
        if (row.model == model) return row.identity;
    return nullptr;
}

/// The Skylake whose instructions this CPU has. Features stay the host's; but code that was compiled for several CPUs
/// is chosen by the model alone (GCC's `target_clones("arch=skylake-avx512")`), and must find its instructions.
CpuModel model_of_features();

}  // namespace anyperf::pmu
