// tables.h: the output formats of `anyperf report`.
#pragma once

#include <string>

#include "profile/call_tree.h"
#include "profile/profile.h"
#include "profile/rows.h"

namespace anyperf::cli {

/// What is shown of a report, beyond its keys.
struct TableOptions {
    profile::RowOptions rows{};
    bool groups = true;          ///< of the text: one table for each group, with the shares of all members
    bool call_tree = false;      ///< callers below each row
    double percent_limit = 0.0;  ///< rows and callers below this share are left out
};

/// A table for each event or group of events, as perf report --stdio lays it out.
std::string rows_as_text(const profile::Profile& profile, const TableOptions& options);

/// An array of {"event", the keys, "samples", "period"}, and with children "total"; with a call tree "callers".
std::string rows_as_json(const profile::Profile& profile, const TableOptions& options);

}  // namespace anyperf::cli
