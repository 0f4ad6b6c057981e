// table.h: the tables of a profile. A row is named by an id of the table's own type, so that ids of two tables can't be
// confused. Rows are only added; an id stays valid for the profile's life.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "large_memory.h"

namespace anyperf::profile {

/// Names a row of a table. Ids count from 0 without gaps, in the order in which rows were added.
template <class Tag>
struct Id {
    std::uint32_t value = 0;

    auto operator<=>(const Id&) const = default;
};

/// No row: kNone<StackId> is the caller of an outermost frame.
template <class AnId>
inline constexpr AnId kNone{0xffff'ffffu};

/// Rows by their ids. add() invalidates references to rows.
template <class AnId, class Row>
class Table {
  public:
    /// The id of the new row. There are at most 2^32 - 1 rows: the last number is kNone.
    AnId add(Row row) {
        rows_.push_back(std::move(row));
        return AnId{static_cast<std::uint32_t>(rows_.size() - 1)};
    }
    const Row& operator[](AnId id) const { return rows_[id.value]; }
    Row& operator[](AnId id) { return rows_[id.value]; }

    std::size_t size() const { return rows_.size(); }
    bool empty() const { return rows_.empty(); }
    void reserve(std::size_t rows) { rows_.reserve(rows); }

    auto begin() const { return rows_.begin(); }
    auto end() const { return rows_.end(); }

  private:
    std::vector<Row, LargeAllocator<Row>> rows_;
};

}  // namespace anyperf::profile
