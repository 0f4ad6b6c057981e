// text.cpp: the comparison as a table, in the form of perf diff: the share in the first recording ("Baseline"), and for
// each other one the change of the share. perf has no column for the events; here it is the second figure, because a
// share can fall although the function costs as much as before (the others have become slower).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "cli/diff/views.h"

namespace anyperf::cli {

namespace {

using profile::DiffCell;

constexpr std::size_t kWidestKey = 60;  // longer texts push the following columns of their row

void add_head(const ComparedEvent& compared, std::string& text) {
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "# Event '{}'\n", compared.event);
    for (std::size_t i = 0; i < compared.files.size(); ++i)
        fmt::format_to(out, "# {}: {}: {} samples, event count {}\n", i == 0 ? "Baseline" : fmt::format("[{}]", i),
                       compared.files[i], compared.diff.totals[i].samples, compared.diff.totals[i].weight);
    text += "# Delta: percentage points of the share. Count: events. *: a change too large to be chance\n#\n";
}

std::vector<std::size_t> widths_of(const ComparedEvent& compared, const DiffOptions& options) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < options.keys.size(); ++i) {
        widths.push_back(profile::title_of(options.keys[i]).size());
        for (const profile::DiffRow& row : compared.diff.rows)
            if (is_shown(row, options))
                widths.back() = std::max(widths.back(), std::min(kWidestKey, row.keys[i].size()));
    }
    if (!widths.empty()) widths.back() = 0;  // nothing follows it
    return widths;
}

}  // namespace

bool is_shown(const profile::DiffRow& row, const DiffOptions& options) {
    const bool large = std::ranges::any_of(
        row.cells, [&](const DiffCell& cell) { return cell.share * 100.0 >= options.percent_limit; });
    return large && (!options.only_significant || std::ranges::any_of(row.cells, &DiffCell::significant));
}

std::string diff_as_text(const ComparedEvent& compared, const DiffOptions& options) {
    std::string text;
    const auto out = std::back_inserter(text);
    add_head(compared, text);
    const std::vector<std::size_t> widths = widths_of(compared, options);
    text += "# Baseline";
    for (std::size_t i = 1; i < compared.files.size(); ++i)
        fmt::format_to(out, "  {:>10}  {:>16}", fmt::format("Delta[{}]", i), fmt::format("Count[{}]", i));
    for (std::size_t i = 0; i < widths.size(); ++i)
        fmt::format_to(out, "  {:<{}}", profile::title_of(options.keys[i]), widths[i]);
    text += "\n#\n";
    for (const profile::DiffRow& row : compared.diff.rows) {
        if (!is_shown(row, options)) continue;
        const DiffCell& base = row.cells.front();
        fmt::format_to(out, "{:>9.2f}%", base.share * 100.0);
        for (std::size_t i = 1; i < row.cells.size(); ++i) {
            const DiffCell& cell = row.cells[i];
            const auto change = static_cast<std::int64_t>(cell.weight - base.weight);
            fmt::format_to(out, "  {:>+8.2f}% {}  {:>+15}", cell.delta * 100.0, cell.significant ? '*' : ' ', change);
        }
        for (std::size_t i = 0; i < widths.size(); ++i) fmt::format_to(out, "  {:<{}}", row.keys[i], widths[i]);
        text += '\n';
    }
    return text;
}

}  // namespace anyperf::cli
