// text.cpp: a report as a table for people, with perf report's columns. Widths are known only after all rows, so cells
// are collected first.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/report/tables.h"

namespace anyperf::cli {

namespace {

using profile::Key;
using profile::Profile;
using profile::Row;

constexpr std::size_t kWidestColumn = 60;  // longer texts push the following columns of their row

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The lines below a row: each step outwards is indented by two more columns.
void add_callers(const Profile& profile, const profile::Caller& caller, std::uint64_t whole,
                 const TableOptions& options, std::size_t depth, std::string& text) {
    for (const profile::Caller& each : caller.callers) {
        // Of a row's own weight: a caller that brings less than half a percent says nothing.
        if (share(each.weight, whole) < std::max(options.percent_limit, 0.5)) continue;
        fmt::format_to(std::back_inserter(text), "{:{}}{:.2f}% {}{}\n", "", 12 + depth * 2, share(each.weight, whole),
                       symbol_text(profile, profile.locations[each.place], each.frame),
                       each.frame == profile::kSymbolFrame ? "" : " (inlined)");
        // A stack has at most a few hundred frames (kernel.perf_event_max_stack), and the depth is theirs.
        add_callers(profile, each, whole, options, depth + 1, text);
    }
}

// One very long symbol must not move all columns to the right, so a column is at most kWidestColumn wide.
void add_event(const Profile& profile, profile::EventId event, const TableOptions& options, std::string& text) {
    const profile::Rows rows = sum_up(profile, event, options.rows);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "# Samples: {} of event '{}'\n# Event count: {}\n", rows.samples, profile.events[event].name,
                   rows.weight);
    std::vector<std::vector<std::string>> cells;
    std::vector<std::size_t> widths;
    for (const Key key : options.rows.keys) widths.push_back(title_of(key).size());
    for (const Row& row : rows.rows) {
        auto& line = cells.emplace_back();
        for (std::size_t i = 0; i < options.rows.keys.size(); ++i) {
            line.push_back(key_text(profile, options.rows.keys[i], row));
            widths[i] = std::max(widths[i], std::min(kWidestColumn, line.back().size()));
        }
    }
    text += options.rows.children ? "#\n# Children      Self" : "#\n# Overhead";
    for (std::size_t i = 0; i < widths.size(); ++i)
        fmt::format_to(out, "  {:<{}}", title_of(options.rows.keys[i]), i + 1 < widths.size() ? widths[i] : 0);
    text += "\n#\n";
    for (std::size_t r = 0; r < rows.rows.size(); ++r) {
        const Row& row = rows.rows[r];
        const std::uint64_t weight = options.rows.children ? row.total : row.self;
        if (share(weight, rows.weight) < options.percent_limit) continue;
        fmt::format_to(out, "{:>9.2f}%", share(weight, rows.weight));
        if (options.rows.children) fmt::format_to(out, " {:>8.2f}%", share(row.self, rows.weight));
        for (std::size_t i = 0; i < widths.size(); ++i)
            fmt::format_to(out, "  {:<{}}", cells[r][i], i + 1 < widths.size() ? widths[i] : 0);
        text += '\n';
        if (options.call_tree) add_callers(profile, callers_of(profile, row), rows.weight, options, 0, text);
    }
}

}  // namespace

std::string rows_as_text(const Profile& profile, const TableOptions& options) {
    std::string text;
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) {
        if (i > 0) text += "\n\n";
        add_event(profile, {i}, options, text);
    }
    return text;
}

}  // namespace anyperf::cli
