// recent.h: the most recent line of each set of a cache, or the most recent page of each set of a TLB.
//
// The problem: each load and store needs a look-up, which compares all ways of a set and may reorder them.
//
// Most accesses touch the line that was touched last in its set. Touching it again changes no order: under LRU it is at
// the front already, under tree-PLRU the tree points away from it already, and under not-recently-used it has its mark
// already. So such an access is a hit that needs only a comparison.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::models {

/// An entry is (number + 1) * 2, plus 1 if the line is modified. So a word of 0, as in fresh memory, is no line.
///
/// It uses memory of the caller: words(sets) words, all 0 at first. With 0 sets nothing is ever recent.
class Recent {
  public:
    Recent() = default;
    Recent(std::uint32_t sets, std::uint64_t* memory) : entries_(memory), mask_(sets == 0 ? 0 : sets - 1) {}

    static constexpr std::size_t words(std::uint32_t sets) { return sets == 0 ? 1 : sets; }

    bool holds(std::uint64_t number) const { return entry_of(number) >> 1 == number + 1; }
    /// Whether it is recent and its line is modified.
    bool holds_modified(std::uint64_t number) const { return entry_of(number) == (entry(number) | 1); }

    void set(std::uint64_t number, bool modified = false) {
        entry_of(number) = entry(number) | static_cast<std::uint64_t>(modified);
    }
    /// The line was removed from the cache.
    void forget(std::uint64_t number) {
        if (holds(number)) entry_of(number) = 0;
    }
    /// The line is not modified any more.
    void share(std::uint64_t number) {
        if (holds(number)) set(number);
    }

    const std::uint64_t* entries() const { return entries_; }
    std::uint64_t mask() const { return mask_; }

  private:
    /// The entry of a line or page that is not modified; that of a modified one is greater by 1.
    static constexpr std::uint64_t entry(std::uint64_t number) { return (number + 1) << 1; }
    std::uint64_t& entry_of(std::uint64_t number) const { return entries_[number & mask_]; }

    std::uint64_t* entries_ = nullptr;
    std::uint64_t mask_ = 0;
};

}  // namespace anyperf::models
