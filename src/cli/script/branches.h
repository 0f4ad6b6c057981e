// branches.h: the branch stack of a sample as `perf script -F brstack` prints it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "perfdata/sample_layout.h"

namespace anyperf::cli {

/// Appends "FROM/TO/M/X/A/CYCLES/TYPE " for each branch, the newest first. `add_place` appends an address of one, with
/// what is before it.
void append_branches(const perfdata::Numbers& branches,
                     const std::function<void(std::uint64_t address, bool is_source, std::string& text)>& add_place,
                     std::string& text);

/// The flags of one branch as records are dumped: "3 cycles  P   0 COND" (branch_stack__printf() in
/// tools/perf/util/session.c).
std::string branch_flags_text(std::uint64_t flags);

}  // namespace anyperf::cli
