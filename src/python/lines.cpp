// lines.cpp: the three formats have this in common: pieces of code in the order of their addresses, each with the
// difference of its line from the one before. So a table is read from its beginning up to the piece with the offset.
#include "python/lines.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace anyperf::python {

namespace {

/// The bytes of a table, one after the other.
class Stream {
  public:
    Stream(const Memory& memory, std::uint64_t table) : memory_(memory), next_(table + kBytesData) {
        constexpr std::uint64_t kLongest = 1 << 20;
        left_ = std::min(memory.word(table + kObjectSize), kLongest);
    }

    /// The next byte; nothing at the end, or if the table cannot be read.
    std::optional<std::uint8_t> byte() {
        const auto peeked = peek();
        if (peeked) ++at_;
        return peeked;
    }
    std::optional<std::uint8_t> peek() {
        if (at_ == filled_ && !fill()) return std::nullopt;
        return chunk_[at_];
    }

  private:
    bool fill() {
        filled_ = std::min<std::uint64_t>(left_, chunk_.size());
        at_ = 0;
        if (filled_ != 0 && !memory_.read(chunk_.data(), next_, filled_)) filled_ = left_ = 0;
        left_ -= filled_;
        next_ += filled_;
        return filled_ != 0;
    }

    const Memory& memory_;
    std::uint64_t next_;
    std::uint64_t left_;
    std::array<std::uint8_t, 128> chunk_;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
};

/// A line further by `change`. Both are the program's, so a sum that is no line wraps around.
std::int64_t moved(std::int64_t line, std::int64_t change) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(line) + static_cast<std::uint64_t>(change));
}

/// Pairs: how far the code goes on before the line changes, and by how much it changes.
std::int64_t by_deltas(Stream& stream, std::int64_t offset, std::int64_t line) {
    std::int64_t address = 0;
    for (;;) {
        const auto step = stream.byte(), change = stream.byte();
        if (!step || !change) return line;
        address += *step;
        if (address > offset) return line;
        line = moved(line, static_cast<std::int8_t>(*change));
    }
}

/// Pairs: the bytes of a piece, and its change of the line.
std::int64_t by_ranges(Stream& stream, std::int64_t offset, std::int64_t line) {
    constexpr std::int8_t kNoLine = -128;
    std::int64_t end = 0;
    while (offset >= end) {
        const auto bytes = stream.byte(), change = stream.byte();
        if (!bytes || !change) return line;
        if (const auto delta = static_cast<std::int8_t>(*change); delta != kNoLine) line = moved(line, delta);
        end += *bytes;
    }
    return line;
}

/// A signed number in groups of six bits, the lowest first; bit 6 says that another group follows. Its lowest bit is
/// the sign.
std::int64_t signed_number(Stream& stream) {
    constexpr unsigned kWidest = 60;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kWidest; shift += 6) {
        const auto group = stream.byte();
        if (!group) return 0;
        value |= std::uint64_t{*group & 0x3fu} << shift;
        if ((*group & 0x40) == 0) break;
    }
    const auto magnitude = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
}

/// Entries that begin with a byte whose bit 7 is set: the kind, and the number of code units less one.
std::int64_t by_locations(Stream& stream, std::int64_t offset, std::int64_t line) {
    constexpr std::int64_t kUnit = 2;
    constexpr unsigned kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14;
    std::int64_t end = 0;
    while (offset >= end) {
        const auto head = stream.byte();
        if (!head) return line;
        const unsigned kind = *head >> 3 & 15;
        if (kind >= kOneLine0 && kind <= kOneLine2) line = moved(line, kind - kOneLine0);
        if (kind == kNoColumns || kind == kLong) line = moved(line, signed_number(stream));
        end += ((*head & 7) + 1) * kUnit;
        // The columns are not needed.
        for (auto next = stream.peek(); next && (*next & 0x80) == 0; next = stream.peek()) stream.byte();
    }
    return line;
}

}  // namespace

std::int64_t line_at(const Memory& memory, LineTable kind, std::uint64_t table, std::int64_t offset,
                     std::int64_t first) {
    if (offset < 0) return first;
    Stream stream{memory, table};
    switch (kind) {
        case LineTable::deltas: return by_deltas(stream, offset, first);
        case LineTable::ranges: return by_ranges(stream, offset, first);
        case LineTable::locations: return by_locations(stream, offset, first);
    }
    return first;
}

}  // namespace anyperf::python
