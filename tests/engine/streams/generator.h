// generator.h: random instruction streams as a blob (blob.h). The same seed gives the same stream on CPUs with the same
// features. A stream has any form that Zydis decodes, user mode may run and the CPU supports, with register and memory
// operands and random redundant prefixes; between them branches, calls, loops and jumps through registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anyperf::engine_test {

struct Stream {
    std::uint64_t seed = 0;
    std::vector<std::uint8_t> code;
    std::vector<std::uint32_t> boundaries;  ///< offsets of the instructions; a fault continues at the next one
};

/// A stream of at least `instructions` instructions.
Stream generate(std::uint64_t seed, unsigned instructions);

/// The contents of a blob file with these streams.
std::string blob_of(const std::vector<Stream>& streams);

/// One line for each instruction, with its number from 0.
std::string listing(const Stream& stream);

}  // namespace anyperf::engine_test
