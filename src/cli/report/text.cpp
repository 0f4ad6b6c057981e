// text.cpp: a report as a table for people, with perf report's columns. Widths are known only after all rows, so cells
// are collected first.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

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

/// A row of several events: those of one group, or one event alone.
struct GroupRow {
    const Row* example = nullptr;  ///< of the first event that has it
    std::vector<const Row*> of;    ///< of each event; null: the event has no samples there
};

/// The weight that a row is shown and sorted by.
std::uint64_t weight_of(const Row* row, const TableOptions& options) {
    if (!row) return 0;
    return options.rows.children ? row->total : row->self;
}

/// The rows of all events, the heaviest of the first event first; rows of equal weight by that of the next event.
std::vector<GroupRow> joined(const std::vector<profile::Rows>& events, const TableOptions& options) {
    std::vector<GroupRow> all;
    std::map<decltype(Row::values), std::size_t> known;
    for (std::size_t i = 0; i < events.size(); ++i) {
        for (const Row& row : events[i].rows) {
            const auto [at, fresh] = known.try_emplace(row.values, all.size());
            if (fresh) all.push_back({.example = &row, .of = std::vector<const Row*>(events.size())});
            all[at->second].of[i] = &row;
        }
    }
    if (events.size() == 1) return all;  // sorted already
    std::ranges::stable_sort(all, [&](const GroupRow& a, const GroupRow& b) {
        for (std::size_t i = 0; i < events.size(); ++i) {
            const std::uint64_t left = weight_of(a.of[i], options), right = weight_of(b.of[i], options);
            if (left != right) return left > right;
        }
        return false;
    });
    return all;
}

/// "# Samples: 3 of event 'cycles'", of a group "# Samples: 3 of events '{cycles, instructions}'".
void add_head(const Profile& profile, const std::vector<profile::EventId>& events,
              const std::vector<profile::Rows>& rows, std::string& text) {
    std::string names;
    std::uint64_t samples = 0, weight = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        names += (i == 0 ? "" : ", ") + profile.events[events[i]].name;
        samples += rows[i].samples;
        weight += rows[i].weight;
    }
    const bool several = events.size() > 1;
    fmt::format_to(std::back_inserter(text), "# Samples: {} of event{} '{}{}{}'\n# Event count: {}\n", samples,
                   several ? "s" : "", several ? "{" : "", names, several ? "}" : "", weight);
}

/// The shares of a row, a column for each event: with children those of the totals, then those of its own.
void add_shares(const GroupRow& row, const std::vector<profile::Rows>& rows, const TableOptions& options,
                std::string& text) {
    const auto out = std::back_inserter(text);
    for (std::size_t i = 0; i < rows.size(); ++i)
        fmt::format_to(out, "{:>{}.2f}%", share(weight_of(row.of[i], options), rows[i].weight), i == 0 ? 9 : 8);
    if (!options.rows.children) return;
    text += ' ';
    for (std::size_t i = 0; i < rows.size(); ++i)
        fmt::format_to(out, "{:>8.2f}%", share(row.of[i] ? row.of[i]->self : 0, rows[i].weight));
}

/// The titles above them. Those of a group's columns are at their right ends.
void add_titles(std::size_t events, const TableOptions& options, std::string& text) {
    const std::size_t more = (events - 1) * 9;
    text += "#\n#";
    if (options.rows.children) fmt::format_to(std::back_inserter(text), " {:>{}}", "Children", 8 + more);
    if (options.rows.children)
        fmt::format_to(std::back_inserter(text), " {:>{}}", "Self", 9 + more);
    else
        fmt::format_to(std::back_inserter(text), " {:>{}}", "Overhead", 8 + more);
}

// One very long symbol must not move all columns to the right, so a column is at most kWidestColumn wide.
void add_events(const Profile& profile, const std::vector<profile::EventId>& events, const TableOptions& options,
                std::string& text) {
    std::vector<profile::Rows> rows;
    for (const profile::EventId event : events) rows.push_back(sum_up(profile, event, options.rows));
    add_head(profile, events, rows, text);
    const auto out = std::back_inserter(text);
    const std::vector<GroupRow> all = joined(rows, options);
    std::vector<std::vector<std::string>> cells;
    std::vector<std::size_t> widths;
    for (const Key key : options.rows.keys) widths.push_back(title_of(key).size());
    for (const GroupRow& row : all) {
        auto& line = cells.emplace_back();
        for (std::size_t i = 0; i < options.rows.keys.size(); ++i) {
            line.push_back(key_text(profile, options.rows.keys[i], *row.example));
            widths[i] = std::max(widths[i], std::min(kWidestColumn, line.back().size()));
        }
    }
    add_titles(events.size(), options, text);
    for (std::size_t i = 0; i < widths.size(); ++i)
        fmt::format_to(out, "  {:<{}}", title_of(options.rows.keys[i]), i + 1 < widths.size() ? widths[i] : 0);
    text += "\n#\n";
    for (std::size_t r = 0; r < all.size(); ++r) {
        double largest = 0;
        for (std::size_t i = 0; i < rows.size(); ++i)
            largest = std::max(largest, share(weight_of(all[r].of[i], options), rows[i].weight));
        if (largest < options.percent_limit) continue;
        add_shares(all[r], rows, options, text);
        for (std::size_t i = 0; i < widths.size(); ++i)
            fmt::format_to(out, "  {:<{}}", cells[r][i], i + 1 < widths.size() ? widths[i] : 0);
        text += '\n';
        // Of a group the callers are those of its leader, as in perf.
        if (options.call_tree && all[r].of[0])
            add_callers(profile, callers_of(profile, *all[r].of[0]), rows[0].weight, options, 0, text);
    }
}

}  // namespace

std::string rows_as_text(const Profile& profile, const TableOptions& options) {
    // Each event that leads nothing is a group of its own.
    std::vector<std::vector<profile::EventId>> groups;
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) {
        const auto& leader = profile.events[{i}].leader;
        const bool follows = options.groups && i > 0 && leader && leader == profile.events[{i - 1}].leader;
        if (!follows) groups.emplace_back();
        groups.back().push_back({i});
    }
    std::string text;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0) text += "\n\n";
        add_events(profile, groups[i], options, text);
    }
    return text;
}

}  // namespace anyperf::cli
