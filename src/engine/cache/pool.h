// pool.h: an array of records in reserved address space, numbered from 1. Records are allocated in order, never move
// and are freed all at once. The pool takes memory only for pages that have records in use. Its first records may be in
// a large page that is there anyway (table_area.h): a small program then touches no page for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/cache/table_area.h"
#include "engine/freestanding/own_area.h"
#include "engine/freestanding/pages_ahead.h"

namespace anyperf::engine {

/// A pool that has filled its part of a large page has small ones for so many bytes more: they cost about as much as a
/// large one.
inline constexpr std::size_t kSmallBytesAfter = std::size_t{256} << 10;

template <class T, std::uint32_t kCapacity>
class Pool {
  public:
    /// Reserves room for kCapacity / 2^`smaller` records. False if there is not enough address space.
    bool reserve(unsigned smaller) {
        capacity_ = kCapacity >> smaller;
        records_ = static_cast<T*>(reserve_pages(sizeof(T) * capacity_));
        return records_ != nullptr;
    }

    /// The bytes that reserve() takes from an area, at most.
    static constexpr std::size_t bytes_for(unsigned smaller) { return room(smaller) + OwnArea::kLeftOut; }
    /// Takes that room from an area. False if it has too little.
    bool reserve(OwnArea& area, unsigned smaller = 0) {
        capacity_ = kCapacity >> smaller;
        records_ = static_cast<T*>(area.take_growing(room(smaller)));
        return records_ != nullptr;
    }

    /// The same. Records with numbers below `kBeside` are in the large page of `tables`, if that has room for them. The
    /// place of each record is the same as without, so that those that follow begin at their own.
    template <std::uint32_t kBeside>
    bool reserve(OwnArea& area, TableArea& tables, unsigned smaller) {
        static_assert(sizeof(T) * kBeside % kPageBytes == 0);
        constexpr std::size_t kFirst = sizeof(T) * kBeside;
        capacity_ = kCapacity >> smaller;
        pages_.begin(kSmallBytesAfter);
        records_ = static_cast<T*>(area.take_growing(room(smaller), kFirst + kSmallBytesAfter));
        if (records_ == nullptr) return false;
        beside_ = static_cast<T*>(tables.take_beside(kFirst));
        boundary_ = beside_ == nullptr ? 0 : kBeside;
        return true;
    }

    /// The number of the first of `count` consecutive new records, which are zero; 0 if the pool is full. They have
    /// consecutive addresses.
    std::uint32_t allocate(std::uint32_t count = 1) {
        if (used_ < boundary_ && used_ + count >= boundary_) used_ = boundary_ - 1;
        if (used_ + count >= capacity_) return 0;
        const std::uint32_t first = used_ + 1;
        used_ += count;
        // The record of number 0 has room, too.
        if (used_ >= boundary_) pages_.use(rest(), sizeof(T) * (used_ + 1 - boundary_), rest_room());
        return first;
    }

    /// Frees all records.
    void free_all() {
        if (beside_ != nullptr) std::memset(static_cast<void*>(beside_), 0, sizeof(T) * std::min(used_ + 1, boundary_));
        discard_pages(at_address<void>(rest()), pages_.ready());
        pages_.discarded();
        used_ = 0;
    }

    T& operator[](std::uint32_t number) { return (number < boundary_ ? beside_ : records_)[number]; }
    /// The number of a record of this pool.
    std::uint32_t number_of(const T& record) const {
        const bool is_beside = address_of(&record) - address_of(beside_) < sizeof(T) * std::size_t{boundary_};
        return static_cast<std::uint32_t>(&record - (is_beside ? beside_ : records_));
    }
    /// The highest number in use.
    std::uint32_t used() const { return used_; }
    std::size_t bytes() const { return sizeof(T) * used_; }
    /// How many of its pages have been touched, about: a large page is one.
    std::size_t touched_pages() const { return pages_.touched_pages(rest()); }

  private:
    static constexpr std::size_t room(unsigned smaller) {
        return page_up(sizeof(T) * (std::size_t{kCapacity} >> smaller));
    }
    /// Where the records begin that are not beside a table.
    std::uint64_t rest() const { return address_of(records_ + boundary_); }
    std::size_t rest_room() const { return sizeof(T) * std::size_t{capacity_ - boundary_}; }

    T* records_ = nullptr;
    T* beside_ = nullptr;         ///< the records with numbers below `boundary_`, beside the table of indirect entries
    std::uint32_t boundary_ = 0;  ///< 0: no records are in the large page
    PagesAhead pages_;
    std::uint32_t capacity_ = 0;
    std::uint32_t used_ = 0;
};

}  // namespace anyperf::engine
