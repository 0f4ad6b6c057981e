// blocks.h: `report --total-cycles`: the blocks of code between branches, by the cycles that passed in them.
#pragma once

#include <string>

#include "anyperf/error.h"
#include "cli/output/output.h"
#include "cli/reading/sample_filters.h"
#include "perfdata/reader.h"
#include "symbols/dso.h"

namespace anyperf::cli {

struct BlockOptions {
    Filters filters{};                ///< whose samples count
    double percent_limit = 0.0;       ///< blocks with a smaller share are left out
    bool whole_source_paths = false;  ///< source files have their directories
    bool titles = true;               ///< lines that begin with #
    std::string separator{};          ///< between columns, which then are not aligned; empty: blanks
};

/// A table for each event whose samples have branches with cycles, the heaviest block first, as perf's. Error: no
/// sample has any.
Result<void> print_blocks(perfdata::Reader& reader, const symbols::SymbolPaths& paths, const BlockOptions& options,
                          Output& out);

}  // namespace anyperf::cli
