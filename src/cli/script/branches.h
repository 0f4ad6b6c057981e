// branches.h: the branch stack of a sample as `perf script -F brstack` prints it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "perfdata/sample_layout.h"

namespace anyperf::cli {

/// Appends " 0xFROM/0xTO/M/X/A/CYCLES/TYPE " for each branch, the newest first. `add_file` appends the name of the file
/// that an address is in; null: without files.
void append_branches(const perfdata::Numbers& branches,
                     const std::function<void(std::uint64_t address, std::string& text)>& add_file, std::string& text);

}  // namespace anyperf::cli
