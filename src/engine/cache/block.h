// block.h: a translated basic block and the records around it. Records are numbered, not pointed at, so that translated
// code can name them in an immediate; 0 names none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/run_state.h"
#include "engine/x86_64/instruction.h"

namespace anyperf::engine {

using BlockId = std::uint32_t;
using ExitId = std::uint32_t;

inline constexpr std::uint16_t kAlone = 0x8000;          ///< see Block::limit
inline constexpr std::size_t kLongestBlockBytes = 1024;  ///< of application code: 64 instructions of 15

/// Where an application instruction's translation starts, and what it may have in spill slots while it runs: at a fault
/// in it, the registers named there are still the application's.
struct Mark {
    std::uint16_t host = 0;  ///< bytes from the block's first
    std::uint8_t guest_length : 7 = 0;
    std::uint8_t begins_segment : 1 = 0;  ///< 1: what is counted in advance begins anew with it
    std::uint8_t spilled = kNone;         ///< two register numbers, a nibble each; rsp (never spilled) stands for none

    x86_64::ClassSet classes = 0;  ///< what the block's prologue has counted for it

    static constexpr std::uint8_t kNone = 0x44;
};

/// A way out of a block to a known application address. There are several to a block, so each byte counts.
struct Exit {
    std::uint64_t target = 0;
    BlockId from = 0;
    BlockId to = 0;             ///< while linked
    ExitId next_incoming = 0;   ///< list of exits linked to `to`
    std::int32_t stub = 0;      ///< what the operand leads to while unlinked, in bytes from the operand
    std::uint16_t operand = 0;  ///< the rel32 to patch when the target is translated, in bytes from the first of
                                ///< `from`; 0: this exit never links
    x86_64::Control control = x86_64::Control::none;  ///< the instruction that the engine has to do with
    std::uint8_t length = 0;                          ///< of that instruction, which ends at `target`
};
static_assert(sizeof(Exit) == 32);

struct Block {
    std::uint64_t pc = 0;
    std::uint8_t* host = nullptr;     ///< first byte: the counting prologue
    std::uint8_t* landing = nullptr;  ///< where an indirect branch enters, made when the first one does
    std::uint64_t* other = nullptr;   ///< where the landing goes with a target that is not `pc`: a word of its code
    BlockId next_in_slot = 0;         ///< the block that `other` leads to, of those that share an entry of the table
    bool in_table = false;
    Mark* marks = nullptr;  ///< one an instruction, and one for the end
    std::uint32_t host_bytes = 0;
    std::uint16_t guest_bytes = 0;
    std::uint16_t instructions = 0;
    ExitId first_exit = 0;
    std::uint16_t exits = 0;
    bool dead = false;  ///< its code has changed: nothing leads here any more
    const std::uint8_t* code =
        nullptr;  ///< a copy of its application code, where that may change unseen: compared on each entry
    x86_64::ClassSet counted = 0;  ///< classes that its code counts; 0: it has no counting prologue
    std::uint8_t lane = 0;         ///< of the thread's counters, that its first segment adds to
    std::uint16_t limit = 0;       ///< made to end after so many instructions; 0: an ordinary block
                              ///< kAlone: of one instruction that nothing watches, and that comes back when it has run
    ExitId incoming = 0;
    BlockId next_in_page = 0;  ///< list of blocks that have bytes in the page of pc
};

}  // namespace anyperf::engine
