// checksum.h: a hash of bytes that finds accidental damage and tells pieces of code apart. It does not protect against
// forged files: a process that can write to the store can run code as its user anyway (docs/security.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

/// Precondition: the bytes can be read.
inline std::uint64_t checksum(const void* data, std::size_t bytes) {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;
    const auto* at = static_cast<const std::uint8_t*>(data);
    // Four chains, because a multiplication waits for the one before it.
    std::uint64_t chain[4] = {bytes, 1, 2, 3};
    const auto word_at = [&](std::size_t offset) {
        std::uint64_t word;
        __builtin_memcpy(&word, at + offset, sizeof word);
        return word;
    };
    const auto mix = [](std::uint64_t hash, std::uint64_t word) {
        hash = (hash ^ word) * kFactor;
        return hash ^ hash >> 32;
    };
    std::size_t done = 0;
    for (; done + 32 <= bytes; done += 32)
        for (std::size_t i = 0; i < 4; ++i) chain[i] = mix(chain[i], word_at(done + 8 * i));
    for (; done + 8 <= bytes; done += 8) chain[0] = mix(chain[0], word_at(done));
    // The rest as one word, which may have bytes that are in another word, too.
    if (done < bytes && bytes >= 8) chain[1] = mix(chain[1], word_at(bytes - 8));
    for (; done < bytes && bytes < 8; ++done) chain[1] = mix(chain[1], at[done]);
    return mix(mix(mix(chain[0], chain[1]), chain[2]), chain[3]);
}

inline std::uint32_t checksum32(const void* data, std::size_t bytes) {
    return static_cast<std::uint32_t>(checksum(data, bytes) >> 16);
}

}  // namespace anyperf::engine
