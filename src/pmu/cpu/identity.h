// identity.h: the CPU that programs of a run see: a Skylake. perf, libpfm and PAPI choose their event tables by vendor,
// family and model, so the identity decides which event names work.
//
// Features, topology and the number of CPUs remain the host's, unless the model is a level (cpu_levels.h). No CPU that
// is sold has this brand string, so that nobody takes the results for those of a real CPU. The presented CPUID,
// /proc/cpuinfo and sysfs are all made from this file, so they agree.
#pragma once

#include <string_view>

namespace anyperf::pmu {

inline constexpr std::string_view kVendor = "GenuineIntel";
inline constexpr unsigned kFamily = 6;

/// A CPU model of the family. All models here have the same core events.
struct CpuIdentity {
    unsigned model;
    unsigned stepping;
    std::string_view brand;  ///< at most 47 characters: CPUID has room for 48 with the final zero
};
inline constexpr CpuIdentity kSkylakeServer{85, 4, "anyperf virtual CPU (Skylake server) @ 3.20GHz"};
inline constexpr CpuIdentity kSkylakeClient{94, 3, "anyperf virtual CPU (Skylake) @ 3.20GHz"};
// The models of cpu_levels.h: a Skylake that has no more than the level.
inline constexpr CpuIdentity kLevel2{94, 3, "anyperf virtual CPU (x86-64-v2) @ 3.20GHz"};
inline constexpr CpuIdentity kLevel3{94, 3, "anyperf virtual CPU (x86-64-v3) @ 3.20GHz"};
inline constexpr CpuIdentity kLevel4{85, 4, "anyperf virtual CPU (x86-64-v4) @ 3.20GHz"};
static_assert(kSkylakeServer.brand.size() < 48 && kSkylakeClient.brand.size() < 48);

/// The content of caps/pmu_name.
inline constexpr std::string_view kPmuName = "skylake";

/// The PMU's resources as CPUID and sysfs advertise them: those of a Skylake with one thread in each core. Unless the
/// run limits them, any number of events is counted at once, whatever is advertised.
inline constexpr unsigned kAdvertisedCounters = 8;
inline constexpr unsigned kFixedCounters = 3;
inline constexpr unsigned kCounterBits = 48;
inline constexpr unsigned kMaxPrecise = 3;      ///< caps/max_precise: the highest attr.precise_ip
inline constexpr unsigned kBranchEntries = 32;  ///< depth of the branch stack (LBR)

}  // namespace anyperf::pmu
