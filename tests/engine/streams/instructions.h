// instructions.h: one random instruction that is fit to be run in a stream.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace anyperf::engine_test {

using Random = std::mt19937_64;
using Bytes = std::vector<std::uint8_t>;

/// Bytes of an instruction that will stand at `address`: no branch, nothing privileged or different from run to run,
/// its explicit memory operand inside the streams' data, r13, r14 and rsp left alone (but for push and pop).
/// Instructions that set up what an implied operand needs (rsi and rdi of string instructions) come with it.
Bytes random_instruction(Random& random, std::uint64_t address);

}  // namespace anyperf::engine_test
