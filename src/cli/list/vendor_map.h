// vendor_map.h: mapfile.csv, by which the vendors' event files and the kernel's tools/perf/pmu-events say which file or
// folder is which CPU's.
#pragma once

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "events/cpu_ids.h"

namespace anyperf::cli {

struct VendorRow {
    std::regex cpus;             ///< of whole CPU ids: "GenuineIntel-6-55-[01234]"
    std::filesystem::path file;  ///< a file, or a folder of files
    std::string core_type;       ///< "cpu_core", "cpu_atom": of these cores of a hybrid only; empty: of all
};

/// The rows of a mapfile.csv; paths are below its folder. Rows that are none are passed over.
std::vector<VendorRow> read_vendor_map(const std::filesystem::path& mapfile);

bool is_for(const VendorRow& row, const events::CpuIds& cpu);

}  // namespace anyperf::cli
