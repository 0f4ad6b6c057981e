// table_area.h: memory for hash tables that double. The table of indirect entries takes a quarter of a large page, all
// of which the kernel has cleared, so the first tables and records are in the rest of it: they cost no page of
// their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/freestanding/own_area.h"
#include "engine/freestanding/pages_ahead.h"

namespace anyperf::engine {

/// Not synchronised.
class TableArea {
  public:
    /// Tables come from these bytes of a large page first, which are zeros, and then from `rest`, which must outlive
    /// the area.
    void begin(std::uint64_t start, std::uint64_t bytes, OwnArea& rest) {
        start_ = start;
        end_ = start + bytes;
        beside_.begin(start, bytes);
        rest_ = &rest;
    }

    /// Zeros for a table that will have an entry in each page soon; null if there is no room.
    void* take(std::uint64_t bytes) {
        if (void* const taken = take_beside(bytes)) return taken;
        void* const taken = rest_->take(bytes);
        if (taken != nullptr) PagesAhead::make_ready(taken, bytes);
        return taken;
    }

    /// The same in the large page only.
    void* take_beside(std::uint64_t bytes) { return beside_.take(bytes); }

    /// Makes a table all zeros, which will be filled again. It keeps its pages: as for take(), faults on new ones would
    /// count as the program's.
    static void clear(void* table, std::uint64_t bytes) { std::memset(table, 0, bytes); }
    /// Gives back the pages of a table that is no longer used.
    void drop(void* table, std::uint64_t bytes) const {
        if (!is_beside(table)) discard_pages(table, bytes);
    }
    /// Whether the table costs no page.
    bool is_beside(const void* table) const { return address_of(table) >= start_ && address_of(table) < end_; }

  private:
    OwnArea beside_;
    OwnArea* rest_ = nullptr;
    std::uint64_t start_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace anyperf::engine
