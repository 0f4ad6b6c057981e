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
#include "models/caches/first_level.h"
#include "models/caches/page_times.h"
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

    /// Whether it has the page. If not, it is filled with it.
    bool touch(std::uint64_t page) { return pages_.touch_or_insert(page, kState); }
    static constexpr LineState kState = LineState::exclusive;  ///< of all pages

  private:
    Cache pages_;
};

/// The first level for code or for data.
class FirstTlb {
  public:
    FirstTlb() = default;
    FirstTlb(const TlbGeometry& small, const TlbGeometry& large, std::uint64_t* memory, std::uint64_t& clock,
             PageTimes times)
        : small_(TlbArray::geometry_of(small), memory, clock),
          large_(large, memory + words_of_small(small)),
          times_(times) {}

    static constexpr std::size_t words(const TlbGeometry& small, const TlbGeometry& large) {
        return words_of_small(small) + TlbArray::words(large);
    }

    /// Whether it has this page of 4 KiB, which is then used. If not, nothing changes.
    bool hits(std::uint64_t page) {
        const FirstLevel::Place place = place_of(page);
        if (place == FirstLevel::kAbsent) return false;
        small_.use(place, page);
        return true;
    }
    /// Whether it has the page. If not, it is filled with it.
    bool touch(std::uint64_t page, PageSize size) {
        if (size == PageSize::large) return large_.touch(page);
        if (small_.hinted()) [[likely]] {
            const FirstLevel::Place place = small_.hinted_place(page);
            if (small_.is_plain(place, page, false)) {
                small_.use(place, page);
                return true;
            }
        }
        if (!small_.exists()) return false;
        if (!by_lines_)
            return small_.use_or_insert(page, TlbArray::kState,
                                        [](std::uint64_t, std::uint64_t, std::uint64_t) { return true; });
        return small_.use_or_insert(page, TlbArray::kState,
                                    [this](std::uint64_t old, std::uint64_t& parts, std::uint64_t& time) {
                                        return times_.may_lose(old, parts, time);
                                    });
    }
    /// Whether it has the page of 4 KiB. Nothing changes.
    bool has(std::uint64_t page) const { return place_of(page) != FirstLevel::kAbsent; }

    // The next functions are for page_times.h. The last two are called only while by_lines().

    /// Whether accesses to lines that just hit do nothing for their pages.
    bool by_lines() const { return by_lines_; }
    /// Brings up to date what the other way needs.
    void set_by_lines(bool by_lines) {
        if (by_lines == by_lines_) return;
        by_lines_ = by_lines;
        if (by_lines) {
            small_.forget_parts();
            times_.rest();
        } else {
            times_.wake([this](std::uint64_t page, std::uint64_t time) {
                const FirstLevel::Place place = place_of(page);
                if (place != FirstLevel::kAbsent) small_.note_time_at(place, time);
            });
        }
    }
    /// A line of the first-level cache may be accessed without this. False: it lacks the line's page.
    bool note_line(std::uint64_t line) {
        const FirstLevel::Place place = place_of(times_.page_of(line));
        if (place == FirstLevel::kAbsent) return false;
        small_.parts_at(place) |= times_.part_of(line);
        return true;
    }
    /// The line has left the cache. `time`: when its page was used by it last; 0: the page has no bit of it.
    void forget_line(std::uint64_t line, std::uint64_t time) {
        if (time == 0) return;
        const FirstLevel::Place place = place_of(times_.page_of(line));
        if (place == FirstLevel::kAbsent) return;
        small_.note_time_at(place, time);
        if (times_.has_bit_of_each()) small_.parts_at(place) &= ~times_.part_of(line);
    }

    /// The pages of 4 KiB.
    const FirstLevel& small() const { return small_; }

  private:
    static constexpr std::size_t words_of_small(const TlbGeometry& small) {
        return FirstLevel::words(TlbArray::geometry_of(small));
    }

    FirstLevel::Place place_of(std::uint64_t page) const {
        if (small_.hinted() && small_.is_plain(small_.hinted_place(page), page, false))
            return small_.hinted_place(page);
        return small_.place_of(page);
    }

    FirstLevel small_;
    TlbArray large_;
    PageTimes times_;
    bool by_lines_ = false;
};

/// Both levels for code or for data. The second level may serve the other kind, too.
class Tlb {
  public:
    Tlb() = default;
    Tlb(FirstTlb first, TlbArray* second) : first_(first), second_(second) {}

    /// Whether the first level has this page of 4 KiB. If not, nothing changes.
    bool hits(std::uint64_t page) { return first_.hits(page); }
    /// The first level, of which lines of the first-level cache depend.
    FirstTlb& first() { return first_; }
    const FirstTlb& first() const { return first_; }
    /// The first level's pages of 4 KiB.
    const FirstLevel& small() const { return first_.small(); }
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
