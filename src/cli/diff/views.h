// views.h: the output formats of `anyperf diff`.
#pragma once

#include <string>
#include <vector>

#include "profile/diff.h"
#include "profile/rows.h"

namespace anyperf::cli {

struct DiffOptions {
    std::vector<profile::Key> keys;
    double percent_limit = 0.0;     ///< a row is shown if one of its shares is at least this
    bool only_significant = false;  ///< leave out rows without a significant change
};

/// The comparison of an event.
struct ComparedEvent {
    std::string event;
    std::vector<std::string> files;  ///< of the recordings
    profile::Diff diff;
};

std::string diff_as_text(const ComparedEvent& compared, const DiffOptions& options);

/// The objects of an array, separated by commas: "event", the keys, and "recordings" with "file", "samples", "period"
/// and "share" (0 to 1). All recordings but the first also have "delta" (of the share), "period_delta", "z", "p" and
/// "significant".
std::string diff_as_json(const ComparedEvent& compared, const DiffOptions& options);

/// Whether a row is shown with these options.
bool is_shown(const profile::DiffRow& row, const DiffOptions& options);

}  // namespace anyperf::cli
