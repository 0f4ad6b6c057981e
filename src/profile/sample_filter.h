// sample_filter.h: which samples of a profile a report considers, by their task and by the function that they are in:
// the options --comms, --dsos, --symbols, --pid and --tid of perf-report(1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace anyperf::profile {

/// An empty list admits everything. A sample must pass all of them. What counts is its own address, not its callers.
struct SampleFilter {
    std::vector<std::string> comms{};
    std::vector<std::string> dsos{};            ///< names or paths
    std::vector<std::string> symbols{};         ///< demangled, as in the symbol table, or "0x" and the first address
    std::string symbol_part{};                  ///< a part of the demangled name
    std::vector<std::uint32_t> pids{}, tids{};  ///< need ReadOptions::pid and tid
    std::optional<std::uint32_t> socket{};      ///< needs ReadOptions::cpu
    bool only_resolved = false;                 ///< only samples in a function with a name

    bool admits_all() const;
};

/// Which samples the filter admits, by their indices.
std::vector<bool> admitted_by(const SampleFilter& filter, const Profile& profile);

/// Removes the samples that are not admitted.
void keep_only(const std::vector<bool>& admitted, Profile& profile);

}  // namespace anyperf::profile
