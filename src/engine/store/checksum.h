// checksum.h: a hash of bytes that finds accidental damage and tells pieces of code apart. It does not protect against
// forged files: a process that can write to the store can run code as its user anyway (docs/security.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

namespace hash {

inline constexpr std::uint64_t kFactor[4] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu,
                                             0xd6e8feb86659fd93u};

/// Both halves of the product, so that each bit of the factors changes bits of all places.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    __extension__ using Product = unsigned __int128;
    const Product product = static_cast<Product>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
std::uint64_t word_at(const std::uint8_t* at) {
    Word word;
    __builtin_memcpy(&word, at, sizeof word);
    return word;
}

/// Sixteen bytes, after those that `chain` has.
inline std::uint64_t mix(std::uint64_t chain, std::uint64_t factor, const std::uint8_t* at) {
    return fold(word_at<std::uint64_t>(at) ^ factor, word_at<std::uint64_t>(at + 8) ^ chain);
}

}  // namespace hash

/// Precondition: the bytes can be read. Two chains, because a multiplication waits for the one before it. The last
/// bytes may overlap those before them, so that no loop handles a rest: its branches would be mispredicted.
inline std::uint64_t checksum(const void* data, std::size_t bytes) {
    using namespace hash;
    const auto* at = static_cast<const std::uint8_t*>(data);
    std::uint64_t even = bytes ^ kFactor[2];
    std::uint64_t odd = bytes ^ kFactor[3];
    if (bytes > 16) {
        const std::uint8_t* const end = at + bytes;
        for (; end - at > 32; at += 32) {
            even = mix(even, kFactor[0], at);
            odd = mix(odd, kFactor[1], at + 16);
        }
        even = mix(even, kFactor[0], bytes > 32 ? end - 32 : at);
        odd = mix(odd, kFactor[1], end - 16);
    } else if (bytes >= 8) {
        even = fold(word_at<std::uint64_t>(at) ^ kFactor[0], word_at<std::uint64_t>(at + bytes - 8) ^ even);
    } else if (bytes >= 4) {
        even = fold(word_at<std::uint32_t>(at) ^ kFactor[0], word_at<std::uint32_t>(at + bytes - 4) ^ even);
    } else if (bytes != 0) {
        const std::uint64_t all = at[0] | std::uint64_t{at[bytes / 2]} << 8 | std::uint64_t{at[bytes - 1]} << 16;
        even = fold(all ^ kFactor[0], even);
    }
    return fold(even ^ kFactor[1], odd ^ kFactor[0]);
}

inline std::uint32_t checksum32(const void* data, std::size_t bytes) {
    return static_cast<std::uint32_t>(checksum(data, bytes) >> 16);
}

}  // namespace anyperf::engine
