// tlb.h: the TLBs of one core: a first level each for code and data, and a second level, which both share or each has.
//
// A translation that hits the first level leaves the second unchanged. So the order of the second level's sets is that
// of the first level's misses, not of all accesses.
//
// All levels replace the least recently used page. Pages of 4 KiB and 2 MiB have separate arrays in the first level and
// share the second. A page walk fills both levels. Prefetches use no TLB.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/caches/cache.h"
#include "models/machine.h"

namespace anyperf::models {

enum class PageSize : std::uint8_t { small, large };  ///< 4 KiB, 2 MiB

/// Where a translation was found.
enum class Translation : std::uint8_t { first_level, second_level, walk };

/// One set-associative array of pages.
class TlbArray {
  public:
    TlbArray() = default;
    TlbArray(const TlbGeometry& geometry, std::uint64_t* memory) : pages_(geometry_of(geometry), memory) {}

    static constexpr CacheGeometry geometry_of(const TlbGeometry& geometry) {
        return {.sets = geometry.sets(), .ways = geometry.ways, .line_bytes = 1, .replacement = Replacement::lru};
    }
    static constexpr std::size_t words(const TlbGeometry& geometry) { return Cache::words(geometry_of(geometry)); }

    /// Whether it has the page, which is then its set's most recent. If not, nothing changes.
    bool hits(std::uint64_t page) { return present(pages_.touch(page)); }
    /// Whether it has the page. If not, it is filled with it.
    bool touch(std::uint64_t page) { return pages_.touch_or_insert(page, kState); }

    // For generated code, which does what hits() does (engine/modelling/write_routines.cpp).

    Cache::Sets sets(const void* from) const { return pages_.sets(from); }
    static constexpr LineState kState = LineState::exclusive;  ///< of all pages

  private:
    Cache pages_;
};

/// The first level for code or for data.
class FirstTlb {
  public:
    FirstTlb() = default;
    FirstTlb(const TlbGeometry& small, const TlbGeometry& large, std::uint64_t* memory)
        : small_(small, memory), large_(large, memory + TlbArray::words(small)) {}

    bool hits(std::uint64_t small_page) { return small_.hits(small_page); }
    bool touch(std::uint64_t page, PageSize size) { return (size == PageSize::small ? small_ : large_).touch(page); }
    /// Where the pages of 4 KiB are.
    Cache::Sets sets(const void* from) const { return small_.sets(from); }

  private:
    TlbArray small_;
    TlbArray large_;
};

/// Both levels for code or for data. The second level may serve the other kind, too.
class Tlb {
  public:
    Tlb() = default;
    Tlb(FirstTlb first, TlbArray* second) : first_(first), second_(second) {}

    /// Whether the first level has this page of 4 KiB. If not, nothing changes.
    bool hits(std::uint64_t page) { return first_.hits(page); }
    /// Where the first level has its pages of 4 KiB.
    Cache::Sets sets(const void* from) const { return first_.sets(from); }
    Translation translate(std::uint64_t address, PageSize size) {
        const std::uint64_t page = address >> (size == PageSize::small ? kSmallShift : kLargeShift);
        if (first_.touch(page, size)) return Translation::first_level;
        return second_->touch(page | (size == PageSize::large ? kLargeMark : 0)) ? Translation::second_level
                                                                                 : Translation::walk;
    }

  private:
    static constexpr unsigned kSmallShift = 12;
    static constexpr unsigned kLargeShift = 21;
    /// Distinguishes large pages from small ones in the second level. It is above all bits that select a set.
    static constexpr std::uint64_t kLargeMark = std::uint64_t{1} << 60;

    FirstTlb first_;
    TlbArray* second_ = nullptr;
};

}  // namespace anyperf::models
