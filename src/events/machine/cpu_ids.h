// cpu_ids.h: the CPUs that have a PMU of the catalog, in the notation of perf and of the mapfile.csv that vendors
// publish with their event files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anyperf::events {

/// The identifiers of these CPUs.
struct CpuIds {
    /// "GenuineIntel-6-5E", and "GenuineIntel-6-55-4" with each stepping; "AuthenticAMD-25-61", "0x00000000410fd0c0"
    /// (MIDR), "0x004e0000" (PVR). Empty if no rule of the PMU compares a number.
    std::vector<std::string> names;
    /// The cores of a hybrid CPU that have the PMU: "cpu_core" or "cpu_atom"; empty: all cores.
    std::string core_type;
    /// The files of the vendor use other event names than the catalog, so events must be compared by code.
    bool vendor_names_differ = false;
};

/// The identifiers for the PMU of that name; empty if there is no such PMU.
CpuIds cpu_ids(std::string_view pmu);

}  // namespace anyperf::events
