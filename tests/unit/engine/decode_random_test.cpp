// decode_random_test.cpp: random bytes decode as by Zydis, and bytes that are cut off are consistent with the whole
// ones.
#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "unit/engine/decode_sweep.h"

namespace anyperf::engine::x86_64 {
namespace {

using Bytes = std::array<std::uint8_t, 15>;

/// Plain random bytes are mostly one-byte opcodes, so most cases start with rarer bytes and some with many prefixes.
Bytes random_bytes(std::mt19937_64& random) {
    constexpr std::array<std::uint8_t, 16> rare{0x0f, 0x0f, 0x66, 0x66, 0xf2, 0xf3, 0xf0, 0x67,
                                                0x48, 0x41, 0xc4, 0xc5, 0x62, 0x62, 0x8f, 0x64};
    Bytes bytes;
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const std::uint64_t choice = random();
    const unsigned rare_bytes = choice % 4;
    const unsigned prefixes = choice >> 60 == 0 ? choice >> 32 & 15 : 0;
    for (unsigned n = 0; n < prefixes && n < bytes.size(); ++n) bytes[n] = 0x2e;
    for (unsigned n = prefixes; n < prefixes + rare_bytes && n < bytes.size(); ++n)
        bytes[n] = rare[choice >> (8 + 4 * (n - prefixes)) & 15];
    return bytes;
}

TEST(RandomBytes, DecodeAsByZydis) {
    Sweep sweep;
    std::mt19937_64 random{20261};
    for (unsigned n = 0; n < 4'000'000 / kThinning; ++n) sweep.at(random_bytes(random));
    EXPECT_EQ(sweep.faults(), 0) << sweep.shown();
}

/// Decodes a copy of exactly `size` bytes, so that a sanitizer reports each read beyond its allocation.
DecodeStatus status_of(std::span<const std::uint8_t> bytes, std::size_t size) {
    const std::vector<std::uint8_t> copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    Instruction instruction;
    return decode(copy.data(), copy.size(), instruction);
}

/// With more bytes, "truncated" may become any other status, and no other status may change: each beginning of an
/// instruction is truncated, and what is invalid stays invalid whatever follows.
TEST(TruncatedBytes, AreReportedAsTruncatedUntilTheyAreDecided) {
    std::mt19937_64 random{20262};
    for (unsigned n = 0; n < 400'000 / kThinning; ++n) {
        const Bytes bytes = random_bytes(random);
        Instruction whole;
        const DecodeStatus status = decode(bytes.data(), bytes.size(), whole);
        EXPECT_NE(status, DecodeStatus::truncated) << "15 bytes are always enough";
        bool decided = false;
        for (std::size_t size = 0; size <= bytes.size(); ++size) {
            const DecodeStatus here = status_of(bytes, size);
            const bool expected_truncated = status == DecodeStatus::ok ? size < whole.length : !decided;
            if (here == DecodeStatus::truncated)
                ASSERT_TRUE(expected_truncated) << size << " of " << testing::PrintToString(bytes);
            else
                ASSERT_EQ(here, status) << size << " of " << testing::PrintToString(bytes);
            decided = here != DecodeStatus::truncated;
        }
    }
}

TEST(TruncatedBytes, AreInvalidOnlyIfZydisDecodesNoContinuation) {
    std::mt19937_64 random{20263};
    for (unsigned n = 0; n < 400'000 / kThinning; ++n) {
        Bytes bytes = random_bytes(random);
        const std::size_t size = random() % 8;
        if (status_of(bytes, size) != DecodeStatus::invalid) continue;
        for (unsigned continuation = 0; continuation < 8; ++continuation) {
            for (std::size_t at = size; at < bytes.size(); ++at) bytes[at] = static_cast<std::uint8_t>(random());
            const Comparison comparison = compare(bytes);
            ASSERT_FALSE(comparison.decoded) << testing::PrintToString(bytes);
            ASSERT_EQ(comparison.faults, "");
        }
    }
}

}  // namespace
}  // namespace anyperf::engine::x86_64
