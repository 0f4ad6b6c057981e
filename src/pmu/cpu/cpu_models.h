// cpu_models.h: the CPUs that a run can present to its programs, by their names in `anyperf run --cpu-model`, and the
// choice among them that is safe on this host.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "pmu/cpu/identity.h"

namespace anyperf::pmu {

enum class CpuModel : std::uint8_t {
    skylake_server,
    skylake_client,
    level_2,
    level_3,
    level_4,
    host,  ///< the host's own: CPUID and /proc/cpuinfo are not changed
};

struct CpuModelRow {
    CpuModel model;
    std::string_view name;        ///< the value of --cpu-model
    const CpuIdentity* identity;  ///< null: the host's
    std::string_view what;        ///< for the help text
    unsigned level = 0;  ///< N of x86-64-vN, whose CPUID is complete (cpu_levels.h); 0: features are the host's
};

inline constexpr std::array kCpuModels{
    CpuModelRow{CpuModel::skylake_server, "skx", &kSkylakeServer, "a Skylake server, which has AVX-512"},
    CpuModelRow{CpuModel::skylake_client, "skl", &kSkylakeClient, "a Skylake without AVX-512"},
    CpuModelRow{CpuModel::level_2, "x86-64-v2", &kLevel2, "the same CPU on every host, with SSE4.2", 2},
    CpuModelRow{CpuModel::level_3, "x86-64-v3", &kLevel3, "the same CPU on every host, with AVX2", 3},
    CpuModelRow{CpuModel::level_4, "x86-64-v4", &kLevel4, "the same CPU on every host, with AVX-512", 4},
    CpuModelRow{CpuModel::host, "host", nullptr, "the CPU of this machine"},
};

/// The identity of a model; null for `host`.
constexpr const CpuIdentity* identity_of(CpuModel model) {
    for (const CpuModelRow& row : kCpuModels)
        if (row.model == model) return row.identity;
    return nullptr;
}

/// The level of a model; 0: it is none.
constexpr unsigned level_of(CpuModel model) {
    for (const CpuModelRow& row : kCpuModels)
        if (row.model == model) return row.level;
    return 0;
}

/// The Skylake whose instructions the host has: the server's if AVX-512 is available, else the client's.
///
/// The feature bits of CPUID are the host's, without AVX-512 on the client. But programs compiled for several CPUs
/// choose code by the model alone (GCC's `target_clones("arch=skylake-avx512")`), and with a wrong model that code
/// would raise SIGILL.
CpuModel skylake_model_of_host();

}  // namespace anyperf::pmu
