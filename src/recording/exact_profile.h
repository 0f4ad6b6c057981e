// exact_profile.h: makes samples of what the programs of a run have counted, instruction by instruction
// (run/exact_counts.h): one for each address, whose period is how often that instruction retired, and one for each pair
// of a call and what it called.
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
    std::uint64_t time_ns = 0;  ///< the process had `address` mapped then as it had when the instruction ran
    std::uint64_t address = 0;
    std::uint64_t count = 0;
    std::int32_t pid = 0;
    std::uint64_t caller = 0;  ///< of a call, where `address` returns to; else 0
};

struct ExactProfile {
    std::vector<ExactCount> instructions;  ///< in the order of their times
    std::vector<ExactCount> calls;         ///< in the order of their times: how often `address` was called
    bool incomplete = false;               ///< some code was not counted, because there was no room
};

/// `units`: how many of the run's units have been used.
ExactProfile read_exact_profile(const ReadMemory& read, std::uint32_t units);

}  // namespace anyperf::recording
