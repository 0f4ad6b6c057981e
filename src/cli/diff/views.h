// views.h: the output formats of `anyperf diff`.
#pragma once

#include <string>
#include <vector>

#include "profile/diff.h"
#include "profile/rows.h"

namespace anyperf::cli {

struct DiffOptions {
    std::vector<profile::Key> keys;
    double percent_limit = 0.0;     ///< rows whose shares are all smaller are left out
    bool only_significant = false;  ///< also rows without a significant change
};

/// The comparison of an event.
struct ComparedEvent {
    std::string event;
    std::vector<std::string> files;  ///< of the recordings
    profile::Diff diff;
};

std::string diff_as_text(const ComparedEvent& compared, const DiffOptions& options);

/// The objects of an array, separated by commas: "event", the keys, and "recordings" with "samples", "period", "share"
/// and, but for the first, "delta", "period_delta", "z", "p" and "significant".
std::string diff_as_json(const ComparedEvent& compared, const DiffOptions& options);

/// Whether the options leave a row in.
bool is_shown(const profile::DiffRow& row, const DiffOptions& options);

}  // namespace anyperf::cli
