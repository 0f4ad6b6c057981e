// recording_plan.h: where the record of a segment gets the values of registers from, while it is being translated
// (record_accesses.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/freestanding/unset_array.h"
#include "engine/x86_64/cpu/registers.h"
#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

/// The base of fs, as a register that is recorded.
inline constexpr unsigned kFsBase = kRegisters;

struct RecordingPlan {
    static constexpr std::size_t kMostWords = 200;

    /// What is known of a register at the instruction that is being planned.
    struct Known {
        bool valid = true;      ///< it has its value at the segment's start, or that of `word`, plus `delta`
        std::uint8_t word = 0;  ///< 0: no word has its value yet
        std::int64_t delta = 0;
    };
    /// A register that is written into a word before or after an instruction.
    struct Capture {
        std::uint8_t instruction = 0;  ///< index in the block
        std::uint8_t reg = 0;
        std::uint8_t word = 0;
        bool after = false;
    };

    std::array<Known, kRegisters + 1> known{};
    std::array<std::uint8_t, kRegisters> at_start{};  ///< by register: the word that the prologue writes it to; 0: none
    UnsetArray<Capture, kMostWords> captures;         ///< the first `capture_count` are set
    RegisterSet loaded = 0;  ///< registers whose value follows from one that the segment has loaded
    std::size_t capture_count = 0;
    std::size_t next_capture = 0;   ///< the first that has not been emitted
    std::uint8_t words = 1;         ///< of the record so far
    std::uint32_t segment = 0;      ///< number of the RecordedSegment; 0: none
    std::uint32_t last_access = 0;  ///< number of the newest RecordedAccess
    std::size_t first = 0;          ///< index in the block of the segment's first instruction
    std::size_t index = 0;          ///< in the block, of the instruction that is being planned
    std::uint16_t offset = 0;       ///< of that instruction, from the segment's start
    std::size_t end = 0;            ///< index in the block after its last instruction

    // While accesses are checked (check_accesses.cpp).
    bool unknown = false;  ///< the planned instruction needs a register that the part has set
    bool begins_segment = true;
    bool unchecked = false;  ///< it is one instruction whose accesses can't be checked
};

}  // namespace anyperf::engine::x86_64
