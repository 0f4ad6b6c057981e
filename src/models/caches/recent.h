// recent.h: the most recent line of each set of a cache, or the most recent page of each set of a TLB.
//
// Most accesses touch the line that was touched last in its set. Touching it again changes no order: under LRU it is at
// the front already, under tree-PLRU the tree points away from it already, and under not-recently-used it has its mark
// already. So translated code that compares its accesses with these (engine/x86_64/accesses/check_accesses.cpp) need
// not record those. Generated code keeps them up to date only while translated code compares: Core::forget_recent().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace anyperf::models {

/// An entry is the number of a line or page, or kNone. So generated code compares one word of memory.
///
/// It uses memory of the caller: words(sets) words. With 0 sets nothing is ever recent.
class Recent {
  public:
    Recent() = default;
    Recent(std::uint32_t sets, std::uint64_t* memory) : entries_(memory), mask_(sets == 0 ? 0 : sets - 1) {
        clear_all();
    }

    static constexpr std::size_t words(std::uint32_t sets) { return sets == 0 ? 1 : sets; }

    bool holds(std::uint64_t number) const { return entry_of(number) == number; }
    void set(std::uint64_t number) { entry_of(number) = number; }
    /// Nothing is recent in the set of this number.
    void clear(std::uint64_t number) { entry_of(number) = kNone; }
    /// Nothing is recent in any set.
    void clear_all() { std::fill_n(entries_, words(mask_ == 0 ? 0 : static_cast<std::uint32_t>(mask_ + 1)), kNone); }
    /// The line or page was removed.
    void forget(std::uint64_t number) {
        if (holds(number)) clear(number);
    }

    const std::uint64_t* entries() const { return entries_; }
    std::uint64_t mask() const { return mask_; }

  private:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};  ///< lines have at most 60 bits (cache.h)

    std::uint64_t& entry_of(std::uint64_t number) const { return entries_[number & mask_]; }

    std::uint64_t* entries_ = nullptr;
    std::uint64_t mask_ = 0;
};

/// The most recent lines of L1D, and which of these are modified: a store to one that is not changes its state.
///
/// A line that a prefetch has filled is its set's most recent for the policy, but not here: the first access to it may
/// train the stride prefetcher (core.h).
class RecentLines {
  public:
    RecentLines() = default;
    RecentLines(std::uint32_t sets, std::uint64_t* memory)
        : lines_(sets, memory), modified_(sets, memory + Recent::words(sets)) {}

    static constexpr std::size_t words(std::uint32_t sets) { return 2 * Recent::words(sets); }

    void set(std::uint64_t line, bool modified) {
        lines_.set(line);
        if (modified)
            modified_.set(line);
        else
            modified_.clear(line);
    }
    void clear(std::uint64_t line) { lines_.clear(line), modified_.clear(line); }
    void clear_all() { lines_.clear_all(), modified_.clear_all(); }
    /// The line was removed from the cache.
    void forget(std::uint64_t line) { lines_.forget(line), modified_.forget(line); }
    /// The line is not modified any more.
    void share(std::uint64_t line) { modified_.forget(line); }

    const Recent& lines() const { return lines_; }
    const Recent& modified() const { return modified_; }

  private:
    Recent lines_;
    Recent modified_;
};

}  // namespace anyperf::models
