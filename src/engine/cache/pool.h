// pool.h: records in one reserved range, numbered from 1, touched as they are used, never moved.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

template <class T, std::uint32_t kCapacity>
class Pool {
  public:
    /// Room for kCapacity records, or a fraction of that: 1 / 2^`smaller`. False where the kernel has no address space
    /// for it.
    bool reserve(unsigned smaller) {
        capacity_ = kCapacity >> smaller;
        records_ = static_cast<T*>(reserve_pages(sizeof(T) * capacity_));
        return records_ != nullptr;
    }

    /// Number of the first of `count` new records in a row; 0 where the pool is full.
    std::uint32_t take(std::uint32_t count = 1) {
        if (used_ + count >= capacity_) return 0;
        const std::uint32_t first = used_ + 1;
        used_ += count;
        return first;
    }

    /// All records are free again.
    void drop() {
        empty_pages(records_, bytes() + sizeof(T));
        used_ = 0;
    }

    T& operator[](std::uint32_t number) { return records_[number]; }
    std::uint32_t used() const { return used_; }
    std::size_t bytes() const { return sizeof(T) * used_; }

  private:
    T* records_ = nullptr;
    std::uint32_t capacity_ = 0;
    std::uint32_t used_ = 0;
};

}  // namespace anyperf::engine
