// text.cpp: a report as a table for people, with perf report's columns. Widths are known only after all rows, so the
// texts of the keys are made twice.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/report/hierarchy.h"
#include "cli/report/key_widths.h"
#include "cli/report/number_columns.h"
#include "cli/report/tables.h"

namespace anyperf::cli {

namespace {

using profile::Key;
using profile::Profile;
using profile::Row;

constexpr std::size_t kBlock = 64 << 10;  // that are printed together

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
    std::ranges::stable_sort(all, [&](const GroupRow& a, const GroupRow& b) { return is_heavier(a, b, options); });
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

/// Writes the lines of a table. With a separator nothing is aligned.
class TableWriter {
  public:
    TableWriter(const Profile& profile, const std::vector<profile::Rows>& events, const KeyWidths& widths,
                const TableOptions& options)
        : profile_(profile), numbers_(events, options), widths_(widths), options_(options) {}

    /// A group has one title for the columns of its events, at their right end.
    void add_titles(std::string& text) const {
        text += aligned() ? "#\n# " : "# ";
        for_each_column([&](std::size_t index, std::size_t key) {
            const Column& column = options_.columns[index];
            const bool is_key = column.kind == Column::Kind::key;
            begin_column(index, text);
            if (!is_key) return numbers_.append_title(column.kind, text);
            const std::string_view title = title_of(profile_, column.key);
            text += title;
            pad(index, title.size(), widths_.of(key), text);
        });
        text += aligned() ? "\n#\n" : "\n";
    }

    void add_row(const GroupRow& group, std::string& text) const {
        if (aligned()) text += "  ";
        for_each_column([&](std::size_t index, std::size_t key) {
            begin_column(index, text);
            const Column& column = options_.columns[index];
            if (column.kind != Column::Kind::key) return numbers_.append(column.kind, group, text);
            const std::size_t begin = text.size();
            append_key_text(profile_, column.key, group.example(), text);
            pad(index, text.size() - begin, widths_.of(key), text);
        });
        text += '\n';
    }

  private:
    bool aligned() const { return options_.separator.empty(); }
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
    const Profile& profile_;
    NumberColumns numbers_;
    const KeyWidths& widths_;
    const TableOptions& options_;
};

bool is_shown(const GroupRow& row, const std::vector<profile::Rows>& events, const TableOptions& options) {
    if (options.only_with_parent && row.example().parent == profile::kNone<profile::FunctionId>) return false;
    return largest_share(row, events, options) >= options.percent_limit;
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
    if (!options.levels.empty()) {
        if (options.titles) append_hierarchy_titles(profile, rows, options, text);
        out.print(text);
        return print_hierarchy(profile, rows, all, options, out);
    }
    const KeyWidths widths{profile, all, options.rows.keys};
    const TableWriter writer{profile, rows, widths, options};
    if (options.titles) writer.add_titles(text);
    const bool skip_own = skips_own_name(options);
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
    std::vector<bool> has_samples(profile.events.size(), !options.skip_empty || profile.samples.empty());
    for (const profile::Sample& sample : profile.samples)
        has_samples[profile.contexts[sample.context].event.value] = true;
    // Each event that leads nothing is a group of its own.
    std::vector<std::vector<profile::EventId>> groups;
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) {
        const auto& leader = profile.events[{i}].leader;
        const bool follows = options.groups && i > 0 && leader && leader == profile.events[{i - 1}].leader;
        if (!follows) groups.emplace_back();
        groups.back().push_back({i});
    }
    const auto is_empty = [&](const std::vector<profile::EventId>& group) {
        return std::ranges::none_of(group, [&](profile::EventId event) { return has_samples[event.value]; });
    };
    std::erase_if(groups, is_empty);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0) out.print("\n\n");
        print_events(profile, groups[i], options, out);
    }
}

}  // namespace anyperf::cli
