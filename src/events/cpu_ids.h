// cpu_ids.h: the CPUs that a PMU of the catalog belongs to, as perf and the vendors' lists of event files
// (mapfile.csv) write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anyperf::events {

struct CpuIds {
    /// "GenuineIntel-6-5E", and "GenuineIntel-6-55-4" where the stepping decides; "AuthenticAMD-25-61",
    /// "0x00000000410fd0c0" (MIDR), "0x004e0000" (PVR). Empty: the catalog has no number for it.
    std::vector<std::string> names;
    /// "cpu_core", "cpu_atom": which cores of a hybrid; empty: all.
    std::string core_type;
    /// The maker's files have other names than the catalog for the same codes.
    bool named_otherwise = false;
};

/// Of the PMU of that name; nothing where there is none.
CpuIds cpu_ids(std::string_view pmu);

}  // namespace anyperf::events
