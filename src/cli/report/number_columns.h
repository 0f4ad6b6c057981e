// number_columns.h: the columns of a report that are numbers, of one event or of all events of a group side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/tables.h"
#include "profile/rows.h"

namespace anyperf::cli {

/// A row of several events: those of one group, or one event alone.
struct GroupRow {
    std::span<const profile::Row* const> of;  ///< of each event; null: the event has no samples there

    /// That of the first event that has it.
    const profile::Row& example() const {
        return **std::ranges::find_if(of, [](const profile::Row* each) { return each != nullptr; });
    }
};

/// Whether `a` comes before `b`: it has more weight for the event that rows are sorted by
/// (TableOptions::sorting_event), or as much there and more for another one.
bool is_heavier(const GroupRow& a, const GroupRow& b, const TableOptions& options);

/// The row's share of the event of which it has most, in per cent. `events` are those of the group.
double largest_share(const GroupRow& row, const std::vector<profile::Rows>& events, const TableOptions& options);

/// Writes the numbers. Both arguments must outlive it.
class NumberColumns {
  public:
    NumberColumns(const std::vector<profile::Rows>& events, const TableOptions& options)
        : events_(events), options_(options) {}

    /// The title, at the right end of the column. Precondition: `kind` is not Kind::key, here and below.
    void append_title(Column::Kind kind, std::string& text) const;
    void append(Column::Kind kind, const GroupRow& row, std::string& text) const;
    /// Of all events of the group. There is a blank between two of them.
    std::size_t width_of(Column::Kind kind) const;

  private:
    bool aligned() const { return options_.separator.empty(); }
    std::string_view title_of(Column::Kind kind) const;

    const std::vector<profile::Rows>& events_;
    const TableOptions& options_;
};

}  // namespace anyperf::cli
