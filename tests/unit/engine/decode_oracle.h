// decode_oracle.h: what Zydis says of an instruction, in our words, and how the decoder's answer differs from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/x86_64/decode.h"

namespace anyperf::engine::x86_64 {

/// An instruction of which we say something else than Zydis 4.0, with the reason. The expectation is amended, so that
/// the difference is tested like everything else.
struct Difference {
    std::string_view what;
    std::string_view why;
};
std::span<const Difference> differences();

/// How often each row of differences() was needed by compare() so far.
std::span<const std::uint64_t> difference_uses();

struct Comparison {
    std::size_t length = 1;  ///< to go on behind it; 1 where it is no instruction
    bool decoded = false;    ///< both decoders know it
    std::string faults;      ///< what differs, empty if nothing
};

/// Decodes by both. At most 15 bytes are looked at.
Comparison compare(std::span<const std::uint8_t> bytes);

}  // namespace anyperf::engine::x86_64
