// pool.h: an array of records in reserved address space, numbered from 1. Records are allocated in order, never move
// and are freed all at once. The pool takes memory only for pages that have records in use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/own_area.h"
#include "engine/freestanding/pages_ahead.h"

namespace anyperf::engine {

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

    /// The number of the first of `count` consecutive new records, which are zero; 0 if the pool is full.
    std::uint32_t allocate(std::uint32_t count = 1) {
        if (used_ + count >= capacity_) return 0;
        const std::uint32_t first = used_ + 1;
        used_ += count;
        // The record of number 0 has room, too.
        pages_.use(address_of(records_), bytes() + sizeof(T), sizeof(T) * std::size_t{capacity_});
        return first;
    }

    /// Frees all records.
    void free_all() {
        discard_pages(records_, pages_.ready());
        pages_.discarded();
        used_ = 0;
    }

    T& operator[](std::uint32_t number) { return records_[number]; }
    /// The highest number in use.
    std::uint32_t used() const { return used_; }
    std::size_t bytes() const { return sizeof(T) * used_; }
    /// How many of its pages have been touched, about: a large page is one.
    std::size_t touched_pages() const { return pages_.touched_pages(address_of(records_)); }

  private:
    static constexpr std::size_t room(unsigned smaller) {
        return page_up(sizeof(T) * (std::size_t{kCapacity} >> smaller));
    }

    T* records_ = nullptr;
    PagesAhead pages_;
    std::uint32_t capacity_ = 0;
    std::uint32_t used_ = 0;
};

}  // namespace anyperf::engine
