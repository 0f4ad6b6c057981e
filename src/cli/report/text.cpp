// text.cpp: a report as a table for people, with perf report's columns. Widths are known only after all rows, so the
// texts of the keys are made twice.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/output/share_text.h"
#include "cli/report/tables.h"

namespace anyperf::cli {

namespace {

using profile::Key;
using profile::Profile;
using profile::Row;

constexpr std::size_t kBlock = 64 << 10;   // that are printed together
constexpr std::size_t kWidestColumn = 60;  // longer texts push the following columns of their row

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
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

/// The rows of the group, the heaviest of one event first (TableOptions::sorting_event); rows of equal weight by those
/// of the others.
std::vector<GroupRow> joined(const std::vector<const Row*>& cells, std::size_t events, const TableOptions& options) {
    std::vector<GroupRow> all;
    all.reserve(cells.size() / events);
    for (std::size_t i = 0; i < cells.size(); i += events) all.push_back({std::span{cells}.subspan(i, events)});
    if (events == 1) return all;
    const std::size_t first = options.sorting_event < events ? options.sorting_event : 0;
    std::ranges::stable_sort(all, [&](const GroupRow& a, const GroupRow& b) {
        for (std::size_t n = 0; n <= events; ++n) {
            const std::size_t i = n == 0 ? first : n - 1;
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

/// The widths of the columns of keys. The texts are made anew when a row is written: a report may have a hundred
/// thousand rows, and to keep them would take more time than to make them.
class Widths {
  public:
    Widths(const Profile& profile, const std::vector<GroupRow>& rows, const std::vector<Key>& keys) {
        for (const Key key : keys) widths_.push_back(title_of(key).size());
        std::string text;
        for (const GroupRow& row : rows) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                text.clear();
                append_key_text(profile, keys[i], row.example(), text);
                widths_[i] = std::max(widths_[i], std::min(kWidestColumn, text.size()));
            }
        }
    }

    std::size_t of(std::size_t key) const { return widths_[key]; }

  private:
    std::vector<std::size_t> widths_;  // one very long symbol must not move all columns to the right: kWidestColumn
};

/// Writes the lines of a table. With a separator nothing is aligned.
class TableWriter {
  public:
    TableWriter(const Profile& profile, const std::vector<profile::Rows>& events, const Widths& widths,
                const TableOptions& options)
        : profile_(profile), events_(events), widths_(widths), options_(options) {}

    /// A group has one title for the columns of its events, at their right end.
    void add_titles(std::string& text) const {
        text += aligned() ? "#\n# " : "# ";
        for_each_column([&](std::size_t index, std::size_t key) {
            const Column& column = options_.columns[index];
            const bool is_key = column.kind == Column::Kind::key;
            const std::string_view title = is_key ? title_of(column.key) : title_of_number(column.kind);
            begin_column(index, text);
            if (!is_key && aligned()) text.append(width_of(index) - title.size(), ' ');
            text += title;
            if (is_key) pad(index, title.size(), widths_.of(key), text);
        });
        text += aligned() ? "\n#\n" : "\n";
    }

    void add_row(const GroupRow& group, std::string& text) const {
        if (aligned()) text += "  ";
        for_each_column([&](std::size_t index, std::size_t key) {
            begin_column(index, text);
            const Column& column = options_.columns[index];
            if (column.kind != Column::Kind::key) return add_numbers(index, group, text);
            const std::size_t begin = text.size();
            append_key_text(profile_, column.key, group.example(), text);
            pad(index, text.size() - begin, widths_.of(key), text);
        });
        text += '\n';
    }

  private:
    static constexpr std::size_t kShareWidth = 8, kNumberWidth = 12;  // as in perf

    bool aligned() const { return options_.separator.empty(); }
    bool is_share(std::size_t index) const {
        const Column::Kind kind = options_.columns[index].kind;
        return kind != Column::Kind::samples && kind != Column::Kind::period;
    }
    /// Of all events of the group. There is a blank between two of them.
    std::size_t width_of(std::size_t index) const {
        return ((is_share(index) ? kShareWidth : kNumberWidth) + 1) * events_.size() - 1;
    }
    /// `visit` gets the indices of the column and of its key.
    template <class Visit>
    void for_each_column(Visit&& visit) const {
        for (std::size_t i = 0, key = 0; i < options_.columns.size(); ++i) {
            visit(i, key);
            key += options_.columns[i].kind == Column::Kind::key ? 1 : 0;
        }
    }
    void begin_column(std::size_t index, std::string& text) const {
        if (index > 0) text += aligned() ? "  " : options_.separator;
    }
    /// The last column needs no blanks after it.
    void pad(std::size_t index, std::size_t size, std::size_t width, std::string& text) const {
        if (aligned() && index + 1 < options_.columns.size() && size < width) text.append(width - size, ' ');
    }
    std::string_view title_of_number(Column::Kind kind) const {
        switch (kind) {
            case Column::Kind::total: return "Children";
            case Column::Kind::self: return options_.rows.children ? "Self" : "Overhead";
            case Column::Kind::system: return "sys";
            case Column::Kind::user: return "usr";
            case Column::Kind::samples: return "Samples";
            case Column::Kind::period: return "Period";
            case Column::Kind::key: break;
        }
        return {};
    }
    static std::uint64_t number_of(Column::Kind kind, const Row& row) {
        switch (kind) {
            case Column::Kind::total: return row.total;
            case Column::Kind::system: return row.kernel_self;
            case Column::Kind::user: return row.self - row.kernel_self;
            case Column::Kind::samples: return row.samples;
            default: return row.self;
        }
    }
    void add_numbers(std::size_t index, const GroupRow& group, std::string& text) const {
        const auto out = std::back_inserter(text);
        const Column::Kind kind = options_.columns[index].kind;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            const std::uint64_t number = group.of[i] ? number_of(kind, *group.of[i]) : 0;
            if (i > 0) text += ' ';
            if (is_share(index)) {
                append_share(share(number, events_[i].weight), aligned() ? kShareWidth - 1 : 0, text);
                text += '%';
            } else {
                fmt::format_to(out, "{:>{}}", number, aligned() ? kNumberWidth : 0);
            }
        }
    }

    const Profile& profile_;
    const std::vector<profile::Rows>& events_;
    const Widths& widths_;
    const TableOptions& options_;
};

bool is_shown(const GroupRow& row, const std::vector<profile::Rows>& events, const TableOptions& options) {
    if (options.only_with_parent && row.example().parent == profile::kNone<profile::FunctionId>) return false;
    double largest = 0;
    for (std::size_t i = 0; i < events.size(); ++i)
        largest = std::max(largest, share(weight_of(row.of[i], options), events[i].weight));
    return largest >= options.percent_limit;
}

/// Prints in blocks: a text of all rows would take twice its size in memory while it grows.
void print_events(const Profile& profile, const std::vector<profile::EventId>& events, const TableOptions& options,
                  Output& out) {
    std::string text;
    std::vector<profile::Rows> rows;
    rows.reserve(events.size());
    for (const profile::EventId event : events) rows.push_back(sum_up(profile, event, options.rows));
    if (options.titles) add_head(profile, events, rows, text);
    const std::vector<const Row*> of_events = cells_of(rows);
    const std::vector<GroupRow> all = joined(of_events, events.size(), options);
    const Widths widths{profile, all, options.rows.keys};
    const TableWriter writer{profile, rows, widths, options};
    if (options.titles) writer.add_titles(text);
    const bool skip_own = options.keys_are_chosen && !options.rows.keys.empty() && options.rows.keys[0] == Key::symbol;
    for (const GroupRow& row : all) {
        if (!is_shown(row, rows, options)) continue;
        writer.add_row(row, text);
        // Of a group the stacks are those of its leader, as in perf.
        if (row.of[0] && options.stacks.style != StackOptions::Style::none)
            text += stacks_as_text(profile, *row.of[0], rows[0].weight, skip_own, options.stacks);
        if (text.size() < kBlock) continue;
        out.print(text);
        text.clear();
    }
    out.print(text);
}

}  // namespace

void print_rows(const Profile& profile, const TableOptions& options, Output& out) {
    // Each event that leads nothing is a group of its own.
    std::vector<std::vector<profile::EventId>> groups;
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) {
        const auto& leader = profile.events[{i}].leader;
        const bool follows = options.groups && i > 0 && leader && leader == profile.events[{i - 1}].leader;
        if (!follows) groups.emplace_back();
        groups.back().push_back({i});
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0) out.print("\n\n");
        print_events(profile, groups[i], options, out);
    }
}

}  // namespace anyperf::cli
