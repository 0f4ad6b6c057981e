// sample_filters.h: the options by which the verbs that read a recording leave samples out: --comms, --dsos, --symbols,
// --pid, --tid, --cpu and --time, as perf's verbs have them.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "analysis/read_options.h"
#include "anyperf/error.h"
#include "profile/sample_filter.h"

namespace anyperf::cli {

/// As parsed.
struct FilterOptions {
    std::vector<std::string> comms, dsos, symbols, pids, tids;
    std::string symbol_part, cpus, time;
    std::optional<std::uint32_t> socket;
    std::uint64_t address_range = 1;  ///< how many bytes an address among `symbols` selects
    bool only_resolved = false;
};

/// Which short options a verb has besides the long ones: letters of "cCdS", and "m" for -C as that of --comms. The
/// verbs of perf differ in this.
void declare_filters(CLI::App& verb, std::string_view short_options, FilterOptions& options);

/// What the options mean.
struct Filters {
    profile::SampleFilter samples;
    analysis::TimeRanges time;
    std::vector<bool> cpus;  ///< by number; empty: all
    std::uint64_t address_range = 1;

    /// Makes a reader keep what the filters look at, and leave out samples of other times and CPUs.
    void add_to(analysis::ReadOptions& options) const;
};
/// Error: a number, a list of CPUs or a time is not one.
Result<Filters> filters_of(const FilterOptions& options);

}  // namespace anyperf::cli
