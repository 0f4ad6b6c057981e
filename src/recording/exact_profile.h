// exact_profile.h: reads what the programs of a run have counted, instruction by instruction (run/exact_counts.h). The
// result has one count for each address, and one for each pair of a call site and a function that it called.
//
// The memory says what threads counted in cells, one for a segment of instructions that run together. An address can be
// in many segments: one for each process that ran it, and one for each translation of it. So the reader adds up cells
// over the threads of a process, then adds each segment's count to all its addresses, and at last subtracts what was
// counted in advance and did not retire.
//
// Programs may have written anything there, so no number is used before it is checked. What makes no sense is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace anyperf::recording {

/// Reads the run's memory at an offset, as pread(2) does. Returns the bytes that were read.
using ReadMemory = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

/// How often an instruction retired.
struct ExactCount {
    std::uint64_t time_ns = 0;  ///< a time at which the process had the code of the instruction mapped at `address`
    std::uint64_t address = 0;  ///< of the instruction, or of the function that was called
    std::uint64_t count = 0;
    std::int32_t pid = 0;
    std::uint64_t caller = 0;  ///< where the call returns to; 0: this is the count of an instruction
};

struct ExactProfile {
    std::vector<ExactCount> instructions;  ///< in the order of their times
    std::vector<ExactCount> calls;         ///< in the order of their times
    bool incomplete = false;               ///< some code was not counted, because there was no room
};

/// `units`: how many of the run's units are in use; they are the first ones.
ExactProfile read_exact_profile(const ReadMemory& read, std::uint32_t units);

}  // namespace anyperf::recording
