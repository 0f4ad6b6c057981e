// packed_marks.h: the marks of a block as bytes. A mark mostly says that an instruction was copied as it is, and that
// the same was counted for it as for the one before: that takes one byte of the eight. They are read only where a
// thread is stopped in a block, and when a block is logged, stored or replayed by the models.
//
// Each mark begins with a byte whose bits say what follows:
//
//   kLength (4 bits)   Mark::guest_length
//   kBeginsSegment
//   kDistance          a byte: how far after the end of a copied instruction the code begins; 0 without
//   kWhole             the first four bytes of the Mark, in the place of a distance
//   kCounted           what was counted, in groups of seven bits, the lowest first, each but the last with bit 7 set;
//                      without it what was counted for the mark before, or nothing for the first one
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cache/block.h"

namespace anyperf::engine {

/// A block has at most so many marks: one for each instruction, and one for the end.
inline constexpr std::size_t kMostMarks = 65;
inline constexpr std::size_t kMostMarkBytes = 10;  ///< of one, packed

/// Writes these marks to `to`, which has room for kMostMarkBytes each. Returns how many bytes they take.
std::size_t pack_marks(std::span<const Mark> marks, std::uint8_t* to);

/// Reads packed marks one after the other.
class MarkReader {
  public:
    explicit MarkReader(const std::uint8_t* packed) : at_(packed) {}
    explicit MarkReader(const Block& block) : at_(block.packed_marks()) {}

    Mark next();
    Mark last() const { return std::bit_cast<Mark>(mark_); }
    /// Where the next mark begins.
    const std::uint8_t* at() const { return at_; }

  private:
    const std::uint8_t* at_;
    // A Mark as a number: to store its fields one by one and to load them together would wait for the stores.
    std::uint64_t mark_ = std::bit_cast<std::uint64_t>(Mark{});
};

/// One mark of a block. For many of them use a MarkReader or Marks.
Mark mark_at(const Block& block, std::size_t index);

/// The application's address of the instruction after that of `index`, which has this mark and is at `address`.
std::uint64_t address_after(const Block& block, std::size_t index, const Mark& mark, std::uint64_t address);

/// All marks of a block.
class Marks {
  public:
    explicit Marks(const Block& block);

    const Mark& operator[](std::size_t index) const { return mark_[index]; }
    /// The application's address of the instruction after that of `index`, which is at `address`.
    std::uint64_t address_after(std::size_t index, std::uint64_t address) const;

  private:
    const Block& block_;
    std::array<Mark, kMostMarks> mark_;
};

}  // namespace anyperf::engine
