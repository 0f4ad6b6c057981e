// cpu_models.h: the CPUs that a run can present to its programs, by the names of `--cpu-model`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::pmu {

enum class CpuModel : std::uint8_t {
    skylake_server,  ///< that of identity.h
    host,            ///< CPUID and /proc/cpuinfo as they are
};

struct CpuModelRow {
    CpuModel model;
    std::string_view name;
    std::string_view what;
};

inline constexpr std::array kCpuModels{
    CpuModelRow{CpuModel::skylake_server, "skx", "a Skylake server: perf, libpfm and PAPI know its events"},
    CpuModelRow{CpuModel::host, "host", "the CPU of this machine"},
};

}  // namespace anyperf::pmu
