#include "engine/cache/packed_marks.h"

namespace anyperf::engine {

namespace {

constexpr std::uint8_t kLength = 15;
constexpr std::uint8_t kBeginsSegment = 1 << 4;
constexpr std::uint8_t kDistance = 1 << 5;
constexpr std::uint8_t kWhole = 1 << 6;
constexpr std::uint8_t kCounted = 1 << 7;

constexpr std::size_t kHalf = sizeof(Mark) / 2;
constexpr unsigned kGroup = 7;  ///< bits
constexpr std::uint8_t kMore = 1 << kGroup;

/// What was counted is in the second half of a mark.
std::uint32_t counted_of(const Mark& mark) {
    std::uint32_t counted;
    __builtin_memcpy(&counted, reinterpret_cast<const std::uint8_t*>(&mark) + kHalf, sizeof counted);
    return counted;
}

void set_counted(Mark& mark, std::uint32_t counted) {
    __builtin_memcpy(reinterpret_cast<std::uint8_t*>(&mark) + kHalf, &counted, sizeof counted);
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
    const std::size_t expected = mark_.host + std::size_t{mark_.guest_length};
    const std::uint8_t first = *at_++;
    if ((first & kWhole) != 0) {
        __builtin_memcpy(static_cast<void*>(&mark_), at_, kHalf);
        at_ += kHalf;
    } else {
        mark_.host = static_cast<std::uint16_t>(expected + ((first & kDistance) != 0 ? *at_++ : 0));
        mark_.lent = Mark::kNotLent;
        mark_.spilled = Mark::kNone;
    }
    mark_.guest_length = first & kLength;
    mark_.begins_segment = (first & kBeginsSegment) != 0;
    if ((first & kCounted) == 0) return mark_;
    std::uint32_t counted = 0;
    unsigned shift = 0;
    for (std::uint8_t group = kMore; (group & kMore) != 0; shift += kGroup) {
        group = *at_++;
        if (shift < 32) counted |= std::uint32_t{group & (kMore - 1u)} << shift;
    }
    set_counted(mark_, counted);
    return mark_;
}

bool MarkReader::next_before(const std::uint8_t* end) {
    const std::uint8_t* at = at_;
    if (at >= end) return false;
    const std::uint8_t first = *at++;
    const std::size_t more = (first & kWhole) != 0 ? kHalf : (first & kDistance) != 0 ? 1 : 0;
    if (static_cast<std::size_t>(end - at) < more) return false;
    at += more;
    if ((first & kCounted) != 0) {
        while (at < end && (*at & kMore) != 0) ++at;
        if (at >= end) return false;
    }
    next();
    return true;
}

Marks::Marks(const Block& block) : block_(block) {
    MarkReader reader{block};
    for (std::size_t i = 0; i <= block.instructions; ++i) mark_[i] = reader.next();
}

std::uint64_t Marks::address_after(std::size_t index, std::uint64_t address) const {
    address += mark_[index].guest_length;
    if (!block_.trace) return address;
    for (const TracePiece* piece = block_.pieces(); !piece->is_end(); ++piece)
        if (piece->first == index + 1) return piece->pc();
    return address;
}

}  // namespace anyperf::engine
