// identity.h: which CPU the virtual cpu PMU belongs to: what perf, libpfm and PAPI look it up by. A Skylake server of
// eight cores; its name doesn't pretend to be one that is sold. CPUID, /proc/cpuinfo and sysfs read these, so they
// agree.
#pragma once

#include <string_view>

namespace anyperf::pmu {

inline constexpr std::string_view kVendor = "GenuineIntel";
inline constexpr unsigned kFamily = 6;
inline constexpr unsigned kModel = 85;
inline constexpr unsigned kStepping = 4;
inline constexpr std::string_view kBrand = "anyperf virtual CPU (Skylake server) @ 3.20GHz";
static_assert(kBrand.size() < 48, "CPUID has room for 47 letters and a zero");
inline constexpr std::string_view kPmuName = "skylake";

/// What is advertised of counters where an unlimited number stands behind: Skylake with one thread a core.
inline constexpr unsigned kAdvertisedCounters = 8;
inline constexpr unsigned kFixedCounters = 3;
inline constexpr unsigned kCounterBits = 48;
inline constexpr unsigned kMaxPrecise = 3;
inline constexpr unsigned kBranchEntries = 32;

}  // namespace anyperf::pmu
