// decode_block.h: finds the instructions of a block, and whether the flags are dead at an address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/unset_array.h"
#include "engine/memory/executable_map.h"
#include "engine/x86_64/decode/decode.h"
#include "engine/x86_64/decode/instruction.h"
#include "engine/x86_64/decode/isa.h"

namespace anyperf::engine::x86_64 {

inline constexpr std::size_t kLongestBlock = 64;     ///< instructions
inline constexpr std::size_t kMaximumSideExits = 3;  ///< forward conditional branches after which a block continues
inline constexpr std::size_t kMaximumCalls = 3;      ///< calls after which a block continues, if it does

/// Consecutive instructions, or those of a trace. The last one may change control in any way. The only earlier ones
/// that change control are conditional branches and calls, each of which ends a segment.
struct DecodedBlock {
    std::uint64_t pc = 0;
    std::uint64_t end = 0;  ///< address after the last instruction
    std::size_t count = 0;
    UnsetArray<Instruction, kLongestBlock> instructions;  ///< the first `count` are set

    bool ends_in_control() const { return count > 0 && instructions[count - 1].control != Control::none; }
    /// Index after the last instruction of the segment that begins with instruction `first`.
    std::size_t segment_end(std::size_t first) const {
        while (first < count && instructions[first].control == Control::none) ++first;
        return first < count ? first + 1 : count;
    }
};

/// Application code to translate: in place, or a copy if it may change unseen (engine/block_at.cpp).
struct CodeBytes {
    std::uint64_t pc = 0;              ///< where the application has it
    const std::uint8_t* at = nullptr;  ///< its first byte, or the copy's
    std::size_t size = 0;              ///< how many bytes from `at` may be decoded
};

/// Decodes `code` up to and including an instruction that changes control, but continues after the first
/// kMaximumSideExits conditional branches that lead forward. It stops earlier after `limit` or kLongestBlock
/// instructions, or before bytes that can't be decoded. A count of 0 means that `code` does not start with a valid
/// instruction.
/// `cpu`: an instruction that it does not have ends the block, too (isa.h). `past_calls`: it also continues after the
/// first kMaximumCalls calls.
void decode_block(const CodeBytes& code, std::size_t limit, DecodedBlock& out, PresentedIsa cpu = {},
                  bool past_calls = false);

/// The ranges of application code that a translation depends on. They may overlap, and have bytes that it does not
/// depend on: ranges near each other become one.
struct CodeRead {
    static constexpr std::size_t kMost = 12;
    static constexpr std::uint64_t kMostBytes = 4096;  ///< of one range
    struct Range {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
    };
    Range range[kMost];
    std::size_t count = 0;
    bool too_many = false;  ///< there was no room for one

    /// Adds [address, address + bytes).
    void add(std::uint64_t address, std::uint64_t bytes);
};

/// The instructions of a decoded block from index `next` on, for a caller that would otherwise decode them again.
struct DecodedTail {
    const DecodedBlock* block = nullptr;
    std::size_t next = 0;
};

/// Whether no instruction from `pc` on reads a status flag before the flag is overwritten. The search follows up to
/// `depth` direct branches on each path, and a limited number of instructions; it answers false if that does not
/// decide. `decoded_tail`: the first instructions from `pc` on, if the caller has decoded them.
/// `read`: receives all code that was decoded for the answer; may be null.
bool flags_are_dead(const ExecutableMap& memory, std::uint64_t pc, unsigned depth, DecodedTail decoded_tail = {},
                    CodeRead* read = nullptr);

}  // namespace anyperf::engine::x86_64
