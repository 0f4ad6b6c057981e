// vendor_map.h: mapfile.csv, which assigns event files to CPUs. The vendors' repositories have one, and so has each
// architecture of the kernel's tools/perf/pmu-events/arch.
#pragma once

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "events/machine/cpu_ids.h"

namespace anyperf::cli {

/// One assignment.
struct VendorMapRow {
    std::regex cpus;             ///< matches whole CPU ids: "GenuineIntel-6-55-[01234]"
    std::filesystem::path file;  ///< a file, or a folder of files
    std::string core_type;       ///< "cpu_core", "cpu_atom": one kind of core of a hybrid CPU; empty: all cores
};

/// The rows of a mapfile.csv. The file's paths are relative to its folder; those of the result begin with that folder.
/// Malformed rows are skipped. No rows if the map cannot be read or is larger than 4 MiB.
std::vector<VendorMapRow> read_vendor_map(const std::filesystem::path& mapfile);

/// Whether the row's file describes events of `cpu`. A CPU whose core type is unknown matches rows of any core type.
bool is_for(const VendorMapRow& row, const events::CpuIds& cpu);

}  // namespace anyperf::cli
