// text.cpp: a report as a table for people, with perf report's columns. Widths are known only after all rows, so cells
// are collected first.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
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
        // The shares are of the whole event, as in perf's mode "graph". Less than half a per cent says nothing.
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
    std::span<const Row* const> of;  ///< of each event; null: the event has no samples there

    /// That of the first event that has it.
    const Row& example() const {
        return **std::ranges::find_if(of, [](const Row* each) { return each != nullptr; });
    }
};

/// The weight that a row is shown and sorted by.
std::uint64_t weight_of(const Row* row, const TableOptions& options) {
    if (!row) return 0;
    return options.rows.children ? row->total : row->self;
}

/// The rows of all events one after the other, each event's at its place in a row of the group. A report without a
/// group has one event and often ten thousand rows, which are in order already.
std::vector<const Row*> cells_of(const std::vector<profile::Rows>& events) {
    std::vector<const Row*> cells;
    if (events.size() == 1) {
        cells.reserve(events[0].rows.size());
        for (const Row& row : events[0].rows) cells.push_back(&row);
        return cells;
    }
    std::map<std::vector<std::uint64_t>, std::size_t> known;
    for (std::size_t i = 0; i < events.size(); ++i) {
        for (const Row& row : events[i].rows) {
            const auto values = events[i].values_of(row);
            const auto [at, fresh] = known.try_emplace({values.begin(), values.end()}, cells.size());
            if (fresh) cells.resize(cells.size() + events.size());
            cells[at->second + i] = &row;
        }
    }
    return cells;
}

/// The rows of the group, the heaviest of the first event first; rows of equal weight by that of the next event.
std::vector<GroupRow> joined(const std::vector<const Row*>& cells, std::size_t events, const TableOptions& options) {
    std::vector<GroupRow> all;
    all.reserve(cells.size() / events);
    for (std::size_t i = 0; i < cells.size(); i += events) all.push_back({std::span{cells}.subspan(i, events)});
    if (events == 1) return all;
    std::ranges::stable_sort(all, [&](const GroupRow& a, const GroupRow& b) {
        for (std::size_t i = 0; i < events; ++i) {
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

/// The titles above the shares. A group has one title for the columns of its events, at their right end.
void add_titles(std::size_t events, const TableOptions& options, std::string& text) {
    const std::size_t more = (events - 1) * 9;
    text += "#\n#";
    if (options.rows.children) fmt::format_to(std::back_inserter(text), " {:>{}}", "Children", 8 + more);
    if (options.rows.children)
        fmt::format_to(std::back_inserter(text), " {:>{}}", "Self", 9 + more);
    else
        fmt::format_to(std::back_inserter(text), " {:>{}}", "Overhead", 8 + more);
}

/// The texts of all rows' keys. They are in one string, since a report may have a hundred thousand of them.
class Cells {
  public:
    Cells(const Profile& profile, const std::vector<GroupRow>& rows, const std::vector<Key>& keys)
        : keys_(keys.size()) {
        for (const Key key : keys) widths_.push_back(title_of(key).size());
        ends_.reserve(rows.size() * keys_ + 1);
        ends_.push_back(0);
        for (const GroupRow& row : rows) {
            const Row& example = row.example();
            for (std::size_t i = 0; i < keys_; ++i) {
                texts_ += key_text(profile, keys[i], example);
                widths_[i] = std::max(widths_[i], std::min(kWidestColumn, texts_.size() - ends_.back()));
                ends_.push_back(texts_.size());
            }
        }
    }

    /// Appends the columns of a row. The last one needs no blanks after it.
    void add_row(std::size_t row, std::string& text) const {
        for (std::size_t i = 0; i < keys_; ++i) {
            const std::size_t begin = ends_[row * keys_ + i], size = ends_[row * keys_ + i + 1] - begin;
            text += "  ";
            text.append(texts_, begin, size);
            if (i + 1 < keys_ && size < widths_[i]) text.append(widths_[i] - size, ' ');
        }
    }
    void add_titles(const std::vector<Key>& keys, std::string& text) const {
        for (std::size_t i = 0; i < keys_; ++i)
            fmt::format_to(std::back_inserter(text), "  {:<{}}", title_of(keys[i]), i + 1 < keys_ ? widths_[i] : 0);
    }

  private:
    std::size_t keys_;
    std::vector<std::size_t> widths_;  // one very long symbol must not move all columns to the right: kWidestColumn
    std::vector<std::size_t> ends_;    // in texts_
    std::string texts_;
};

void add_events(const Profile& profile, const std::vector<profile::EventId>& events, const TableOptions& options,
                std::string& text) {
    std::vector<profile::Rows> rows;
    rows.reserve(events.size());
    for (const profile::EventId event : events) rows.push_back(sum_up(profile, event, options.rows));
    add_head(profile, events, rows, text);
    const std::vector<const Row*> of_events = cells_of(rows);
    const std::vector<GroupRow> all = joined(of_events, events.size(), options);
    const Cells cells{profile, all, options.rows.keys};
    add_titles(events.size(), options, text);
    cells.add_titles(options.rows.keys, text);
    text += "\n#\n";
    for (std::size_t r = 0; r < all.size(); ++r) {
        double largest = 0;
        for (std::size_t i = 0; i < rows.size(); ++i)
            largest = std::max(largest, share(weight_of(all[r].of[i], options), rows[i].weight));
        if (largest < options.percent_limit) continue;
        add_shares(all[r], rows, options, text);
        cells.add_row(r, text);
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
