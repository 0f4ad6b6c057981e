#include "engine/cache/packed_marks.h"

namespace anyperf::engine {

namespace {

constexpr std::uint8_t kLength = 15;
constexpr std::uint8_t kBeginsSegment = 1 << 4;
constexpr std::uint8_t kDistance = 1 << 5;
constexpr std::uint8_t kWhole = 1 << 6;
constexpr std::uint8_t kCounted = 1 << 7;

constexpr std::size_t kHalf = sizeof(Mark) / 2;
// The first half of a Mark as a number: 16 bits for the code, then the length, the segment's begin and the registers.
constexpr unsigned kLengthShift = 16;
constexpr std::uint32_t kNothingBorrowed = std::uint32_t{Mark::kNotLent} << 21 | std::uint32_t{Mark::kNone} << 24;
constexpr unsigned kGroup = 7;  ///< bits
constexpr std::uint8_t kMore = 1 << kGroup;

/// What was counted is in the second half of a mark.
std::uint32_t counted_of(const Mark& mark) {
    std::uint32_t counted;
    __builtin_memcpy(&counted, reinterpret_cast<const std::uint8_t*>(&mark) + kHalf, sizeof counted);
    return counted;
}

std::uint8_t* put_groups(std::uint32_t value, std::uint8_t* to) {
    for (; value >= kMore; value >>= kGroup) *to++ = static_cast<std::uint8_t>(value | kMore);
    *to++ = static_cast<std::uint8_t>(value);
    return to;
}

}  // namespace

std::size_t pack_marks(std::span<const Mark> marks, std::uint8_t* to) {
    std::uint8_t* at = to;
    std::size_t expected = 0;
    std::uint32_t counted_before = 0;
    for (const Mark& mark : marks) {
        const std::size_t distance = mark.host - expected;
        const bool whole = mark.lent != Mark::kNotLent || mark.spilled != Mark::kNone || distance > 255;
        const std::uint32_t counted = counted_of(mark);
        std::uint8_t first = mark.guest_length;
        if (mark.begins_segment != 0) first |= kBeginsSegment;
        if (counted != counted_before) first |= kCounted;
        if (whole) first |= kWhole;
        if (!whole && distance != 0) first |= kDistance;
        *at++ = first;
        if (whole) __builtin_memcpy(at, &mark, kHalf);
        if (whole) at += kHalf;
        if (!whole && distance != 0) *at++ = static_cast<std::uint8_t>(distance);
        if (counted != counted_before) at = put_groups(counted, at);
        expected = mark.host + std::size_t{mark.guest_length};
        counted_before = counted;
    }
    return static_cast<std::size_t>(at - to);
}

Mark MarkReader::next() {
    const std::uint8_t first = *at_++;
    std::uint32_t half = 0;
    if ((first & kWhole) != 0) {
        __builtin_memcpy(&half, at_, kHalf);
        at_ += kHalf;
        half &= ~(std::uint32_t{kLength | kBeginsSegment} << kLengthShift);
    } else {
        const std::uint64_t expected = mark_ + (mark_ >> kLengthShift & kLength);
        half = static_cast<std::uint16_t>(expected + ((first & kDistance) != 0 ? *at_++ : 0)) | kNothingBorrowed;
    }
    half |= static_cast<std::uint32_t>(first & (kLength | kBeginsSegment)) << kLengthShift;
    mark_ = mark_ >> 32 << 32 | half;
    if ((first & kCounted) == 0) return last();
    std::uint32_t counted = 0;
    unsigned shift = 0;
    for (std::uint8_t group = kMore; (group & kMore) != 0; shift += kGroup) {
        group = *at_++;
        if (shift < 32) counted |= std::uint32_t{group & (kMore - 1u)} << shift;
    }
    mark_ = std::uint64_t{counted} << 32 | half;
    return last();
}

Mark mark_at(const Block& block, std::size_t index) {
    MarkReader reader{block};
    for (std::size_t i = 0; i < index; ++i) reader.next();
    return reader.next();
}

Marks::Marks(const Block& block) : block_(block) {
    MarkReader reader{block};
    for (std::size_t i = 0; i <= block.instructions; ++i) mark_[i] = reader.next();
}

std::uint64_t Marks::address_after(std::size_t index, std::uint64_t address) const {
    return engine::address_after(block_, index, mark_[index], address);
}

std::uint64_t address_after(const Block& block, std::size_t index, const Mark& mark, std::uint64_t address) {
    address += mark.guest_length;
    if (!block.trace) return address;
    for (const TracePiece* piece = block.pieces(); !piece->is_end(); ++piece)
        if (piece->first == index + 1) return piece->pc();
    return address;
}

}  // namespace anyperf::engine
