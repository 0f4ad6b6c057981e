// generator.h: random instruction streams as a blob (blob.h), the same for the same seed on CPUs with the same
// features. Every form that Zydis decodes, user mode may run and the CPU has, with register and memory operands, odd
// prefixes and encodings as they fall; between them branches, calls, loops and jumps through registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anyperf::engine_test {

struct Stream {
    std::uint64_t seed = 0;
    std::vector<std::uint8_t> code;
    std::vector<std::uint32_t> boundaries;  ///< where each piece begins that can be stepped over
};

/// A stream of some `instructions` instructions.
Stream generate(std::uint64_t seed, unsigned instructions);

/// The streams as the driver reads them.
std::string blob_of(const std::vector<Stream>& streams);

/// One line an instruction, with its number as the driver's LENGTH counts them.
std::string listing(const Stream& stream);

}  // namespace anyperf::engine_test
