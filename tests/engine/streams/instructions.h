// instructions.h: one random instruction that can run in a stream.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace anyperf::engine_test {

using Random = std::mt19937_64;
using Bytes = std::vector<std::uint8_t>;

/// The bytes of an instruction at `address`: not a branch, not privileged, with the same result in every run. Its
/// explicit memory operand is inside the streams' data; it writes r13, r14 and rsp only as push and pop do. A string
/// instruction is preceded by the instructions that set rcx, rsi and rdi.
Bytes random_instruction(Random& random, std::uint64_t address);

}  // namespace anyperf::engine_test
