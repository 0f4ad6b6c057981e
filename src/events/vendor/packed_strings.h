// packed_strings.h: a sorted table of strings in an image. Names of events begin alike, so most strings are stored
// without the letters that they share with the string before. A string is found by its number or by its letters.
//
// tools/catalog/pack_vendor.py (SortedStrings) writes the layout. The strings are in blocks of kBlock. First comes a
// u32 for each block: its offset, counted from the end of these offsets. The blocks follow. In a block the first string
// is whole. Each other one is a byte with the number of letters that it shares with the string before, and the rest. A
// NUL ends each string.
//
// The first string of a block is whole so that a lookup is a binary search over the blocks, and then reads one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace anyperf::vendor {

class PackedStrings {
  public:
    static constexpr std::uint32_t kBlock = 16;

    /// `count` strings at `at`, which is aligned to 4 bytes and outlives the table.
    PackedStrings(const char* at, std::uint32_t count) : at_(at), count_(count) {}

    /// The string of that number, which is below the count.
    std::string at(std::uint32_t number) const;
    /// The number of the string; nothing if the table does not have it.
    std::optional<std::uint32_t> find(std::string_view text) const;

  private:
    std::uint32_t blocks() const { return (count_ + kBlock - 1) / kBlock; }
    /// The first string of a block.
    const char* block(std::uint32_t index) const;
    /// Calls visit(number, string) for the strings of a block until it returns true.
    template <class Visit>
    void each_of_block(std::uint32_t index, Visit visit) const;

    const char* at_;
    std::uint32_t count_;
};

}  // namespace anyperf::vendor
