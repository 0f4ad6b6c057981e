// checksum_test.cpp: the checksum of stored translations depends on each bit, on nothing beside the bytes, and on where
// they are.
#include "engine/store/checksum.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace anyperf::engine {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kLongest = 200;

Bytes bytes(std::size_t count) {
    Bytes made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<std::uint8_t>(i * 7 + 3);
    return made;
}

std::uint64_t checksum_of(const Bytes& of) {
    return checksum(of.data(), of.size());
}

TEST(Checksum, DoesNotDependOnWhatIsBesideTheBytes) {
    for (std::size_t count = 0; count <= kLongest; ++count) {
        const Bytes alone = bytes(count);
        for (std::size_t offset = 0; offset < 9; ++offset) {
            Bytes other(count + 40, static_cast<std::uint8_t>(offset * 31 + 1));
            std::copy(alone.begin(), alone.end(), other.begin() + static_cast<std::ptrdiff_t>(offset));
            ASSERT_EQ(checksum(other.data() + offset, count), checksum_of(alone)) << count << " at " << offset;
        }
    }
}

TEST(Checksum, ChangesWithEachBit) {
    for (std::size_t count = 1; count <= kLongest; ++count) {
        Bytes changed = bytes(count);
        const std::uint64_t before = checksum_of(changed);
        for (std::size_t bit = 0; bit < count * 8; ++bit) {
            const auto flip = static_cast<std::uint8_t>(1u << bit % 8);
            changed[bit / 8] ^= flip;
            ASSERT_NE(checksum_of(changed), before) << "bit " << bit << " of " << count << " bytes";
            ASSERT_NE(checksum32(changed.data(), count), static_cast<std::uint32_t>(before >> 16));
            changed[bit / 8] ^= flip;
        }
    }
}

TEST(Checksum, DependsOnTheOrderAndTheNumberOfBytes) {
    Bytes turned = bytes(64);
    const std::uint64_t before = checksum_of(turned);
    std::rotate(turned.begin(), turned.begin() + 16, turned.end());
    EXPECT_NE(checksum_of(turned), before);

    std::set<std::uint64_t> zeros;
    for (std::size_t count = 0; count <= kLongest; ++count) zeros.insert(checksum_of(Bytes(count)));
    EXPECT_EQ(zeros.size(), kLongest + 1);
}

}  // namespace
}  // namespace anyperf::engine
