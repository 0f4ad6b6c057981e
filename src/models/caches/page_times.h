// page_times.h: when the pages of a first TLB were used last, by the lines of a first-level cache.
//
// PROBLEM. Each access uses a line and its page. To look the page up, and to write down when it was used, takes as long
// as to do so for the line.
//
// MECHANISM. A page was used last when one of its lines was. So an access to a line that just hits (first_level.h)
// does nothing for the page: what is written down there may be too early. Where a page is to be replaced, those that
// seem to be the oldest are asked for the times of their lines. A line that leaves the cache leaves its time to its
// page.
//
// That a line just hits has to mean that the TLB has its page. So when a page leaves the TLB its lines become dormant,
// and each wakes at its next access, which has found the page there, or has brought it. A line is dormant, too, if it
// was last accessed by a page of 2 MiB.
//
// A page has a bit for each of its lines that may be in the cache, or for some neighbours together if it has more
// than 64. Lines that are dormant, or have the mark of a prefetch, need none: they take the full path first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "models/caches/first_level.h"

namespace anyperf::models {

class PageTimes {
  public:
    PageTimes() = default;
    /// @param lines of the cache, which outlives this
    PageTimes(FirstLevel& lines, unsigned line_shift)
        : lines_(&lines), shift_(kPageShift - line_shift), part_shift_(shift_ > kPartBits ? shift_ - kPartBits : 0) {}

    std::uint64_t page_of(std::uint64_t line) const { return line >> shift_; }
    /// The bit of a line.
    std::uint64_t part_of(std::uint64_t line) const {
        return std::uint64_t{1} << ((line & ((std::uint64_t{1} << shift_) - 1)) >> part_shift_);
    }
    /// Whether no two lines share a bit.
    bool has_bit_of_each() const { return part_shift_ == 0; }
    /// Before no access looks up pages any more: all lines become dormant. So what their times say of their pages is of
    /// no importance.
    void rest() const { lines_->rest(); }
    /// Before all accesses look up pages again: calls `f` with the page of each line that is not dormant, and when it
    /// was used by this line. No line is dormant then.
    template <class F>
    void wake(F f) const {
        lines_->wake([&](std::uint64_t line, std::uint64_t time) { f(page_of(line), time); });
    }
    /// Whether none of its lines has used the page after `time`, which becomes the last such time otherwise. If so, the
    /// TLB loses the page.
    [[gnu::always_inline]] bool may_lose(std::uint64_t page, std::uint64_t& parts, std::uint64_t& time) const {
        if (parts == 0) return true;
        const bool may = has_bit_of_each() ? may_lose_lines(page, parts, time) : may_lose_parts(page, parts, time);
        if (may) parts = 0;
        return may;
    }

  private:
    static constexpr unsigned kPageShift = 12;
    static constexpr unsigned kPartBits = 6;

    // The CPU seldom foresees how many lines there are, so there is one loop over them where the page is lost, too.
    bool may_lose_lines(std::uint64_t page, std::uint64_t parts, std::uint64_t& time) const {
        FirstLevel::Place places[std::size_t{1} << kPartBits];
        unsigned count = 0;
        std::uint64_t latest = time;
        for (; parts != 0; parts &= parts - 1) {
            const std::uint64_t line = page << shift_ | static_cast<std::uint64_t>(std::countr_zero(parts));
            const FirstLevel::Place place = lines_->present_place_of(line);
            places[count++] = place;
            latest = std::max(latest, lines_->time_at(place));
        }
        if (latest > time) {
            time = latest;
            return false;
        }
        for (unsigned i = 0; i < count; ++i) lines_->rest_at(places[i]);
        return true;
    }
    /// The same if a bit is of several lines, some of which may have left the cache.
    bool may_lose_parts(std::uint64_t page, std::uint64_t& parts, std::uint64_t& time) const {
        std::uint64_t latest = time;
        each(page, parts, [&](FirstLevel::Place place) { latest = std::max(latest, lines_->time_at(place)); });
        if (latest > time) {
            time = latest;
            return false;
        }
        each(page, parts, [&](FirstLevel::Place place) { lines_->rest_at(place); });
        return true;
    }

    /// Calls f for each line of the page that is in the cache. Bits of lines that have gone are removed.
    template <class F>
    void each(std::uint64_t page, std::uint64_t& parts, F f) const {
        for (std::uint64_t rest = parts; rest != 0; rest &= rest - 1) {
            const auto part = static_cast<std::uint64_t>(std::countr_zero(rest));
            const std::uint64_t first = page << shift_ | part << part_shift_;
            bool found = false;
            for (std::uint64_t line = first; line != first + (std::uint64_t{1} << part_shift_); ++line) {
                const FirstLevel::Place place = lines_->place_of(line);
                if (place == FirstLevel::kAbsent) continue;
                found = true;
                f(place);
            }
            if (!found) parts &= ~(rest & -rest);
        }
    }

    FirstLevel* lines_ = nullptr;
    unsigned shift_ = 0;       ///< log2 of a page's lines
    unsigned part_shift_ = 0;  ///< log2 of the lines of a bit
};

}  // namespace anyperf::models
