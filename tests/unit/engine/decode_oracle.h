// decode_oracle.h: compares our decoder with Zydis 4.0, whose answer is expressed as one of our Instructions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/x86_64/decode/decode.h"

namespace anyperf::engine::x86_64 {

/// An instruction for which our decoder answers otherwise than Zydis 4.0, with the reason. The expected answer is
/// amended, so that the difference is tested like everything else.
struct Difference {
    std::string_view what;
    std::string_view why;
};
std::span<const Difference> differences();

/// How often each row of differences() was needed by compare() so far.
std::span<const std::uint64_t> difference_uses();

struct Comparison {
    std::size_t length = 1;  ///< bytes to the next instruction; 1 if this is not one
    bool decoded = false;    ///< both decoders accept it
    std::string faults;      ///< the differences; empty if there are none
};

/// Decodes with both decoders. Reads at most 15 bytes.
Comparison compare(std::span<const std::uint8_t> bytes);

}  // namespace anyperf::engine::x86_64
