// identity.h: which CPU the virtual cpu PMU belongs to: what perf, libpfm and PAPI look it up by. A Skylake of eight
// cores; its name doesn't pretend to be one that is sold. CPUID, /proc/cpuinfo and sysfs read these, so they agree.
#pragma once

#include <string_view>

namespace anyperf::pmu {

inline constexpr std::string_view kVendor = "GenuineIntel";
inline constexpr unsigned kFamily = 6;

/// Members of the family whose core events are the same.
struct CpuIdentity {
    unsigned model;
    unsigned stepping;
    std::string_view brand;  ///< 47 letters at most: CPUID has room for them and a zero
};
inline constexpr CpuIdentity kSkylakeServer{85, 4, "anyperf virtual CPU (Skylake server) @ 3.20GHz"};
inline constexpr CpuIdentity kSkylakeClient{94, 3, "anyperf virtual CPU (Skylake) @ 3.20GHz"};
static_assert(kSkylakeServer.brand.size() < 48 && kSkylakeClient.brand.size() < 48);

inline constexpr std::string_view kPmuName = "skylake";

/// What is advertised of counters where an unlimited number stands behind: Skylake with one thread a core.
inline constexpr unsigned kAdvertisedCounters = 8;
inline constexpr unsigned kFixedCounters = 3;
inline constexpr unsigned kCounterBits = 48;
inline constexpr unsigned kMaxPrecise = 3;
inline constexpr unsigned kBranchEntries = 32;

}  // namespace anyperf::pmu
