// hierarchy.h: `anyperf report --hierarchy`: a row for each value of the first key, below it those of the second key,
// and so on. The layout is that of perf 6.1 (hist_entry__hierarchy_fprintf() in tools/perf/ui/stdio/hist.c).
#pragma once

#include <string>
#include <vector>

#include "cli/output/output.h"
#include "cli/report/number_columns.h"
#include "cli/report/tables.h"
#include "profile/profile.h"

namespace anyperf::cli {

/// The titles: the numbers, and the keys with " / " between two levels.
void append_hierarchy_titles(const profile::Profile& profile, const std::vector<profile::Rows>& events,
                             const TableOptions& options, std::string& text);

/// Prints the rows, each with its own keys below those that it shares with others. `leaves` are the rows of a flat
/// table, the heaviest first. Precondition: TableOptions::levels are those of the keys.
void print_hierarchy(const profile::Profile& profile, const std::vector<profile::Rows>& events,
                     const std::vector<GroupRow>& leaves, const TableOptions& options, Output& out);

}  // namespace anyperf::cli
