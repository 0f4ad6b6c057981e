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
using LandingId = std::uint32_t;

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
    std::uint64_t low_target : 48 = 0;
    std::uint64_t operand : 16 = 0;  ///< the rel32 to patch when the target is translated, in bytes from the first of
                                     ///< `from`; 0: this exit never links
    BlockId from : 22 = 0;
    std::uint32_t control_number : 6 = 0;
    std::uint32_t length : 4 = 0;  ///< of the instruction that the engine has to do with, which ends at the target
    BlockId to = 0;                ///< while linked
    ExitId next_incoming = 0;      ///< list of exits linked to `to`
    std::int32_t stub = 0;         ///< what the operand leads to while unlinked, in bytes from the operand

    /// The kernel's half of the addresses (vsyscall) has its upper
    /// bits set.
    std::uint64_t target() const {
        constexpr std::uint64_t kNoAddressOfAProgram = (std::uint64_t{1} << 47) + (std::uint64_t{1} << 32);
        return low_target < kNoAddressOfAProgram ? low_target : low_target | std::uint64_t{0xffff} << 48;
    }
    /// False where it can't be told.
    bool lead_to(std::uint64_t address) {
        low_target = address & ((std::uint64_t{1} << 48) - 1);
        return target() == address;
    }
    /// Of the instruction that the engine has to do with.
    x86_64::Control control() const { return static_cast<x86_64::Control>(control_number); }
    void stop_behind(const x86_64::Instruction& instruction) {
        control_number = static_cast<std::uint32_t>(instruction.control) & 63u;
        length = instruction.length & 15u;
    }
};
static_assert(sizeof(Exit) == 24);

/// Where indirect branches to an application address arrive (x86_64/landing.h).
struct Landing {
    std::uint64_t pc = 0;
    std::uint8_t* host = nullptr;
    std::uint64_t* other = nullptr;  ///< where it goes with a target that is not `pc`: a word of its code
    LandingId next_in_slot = 0;      ///< the one that `other` leads to, of those that share an entry of the table
    bool in_table = false;
};

struct Block {
    std::uint64_t pc = 0;
    std::uint8_t* host = nullptr;  ///< first byte: the counting prologue
    Mark* marks = nullptr;         ///< one an instruction, and one for the end
    const std::uint8_t* code =
        nullptr;  ///< a copy of its application code, where that may change unseen: compared on each entry
    std::uint16_t host_bytes = 0;
    std::uint16_t guest_bytes = 0;
    std::uint16_t limit = 0;  ///< made to end after so many instructions; 0: an ordinary block
                              ///< kAlone: of one instruction that nothing watches, and that comes back when it has run
    std::uint8_t instructions = 0;
    std::uint8_t exits = 0;
    ExitId first_exit = 0;
    ExitId incoming = 0;
    LandingId landing = 0;         ///< where indirect branches enter, made when the first one does
    BlockId next_in_page = 0;      ///< list of blocks that have bytes in the page of pc
    x86_64::ClassSet counted = 0;  ///< classes that its code counts; 0: it has no counting prologue
    std::uint8_t lane : 7 = 0;     ///< of the thread's counters, that its first segment adds to
    bool dead : 1 = false;         ///< its code has changed: nothing leads here any more
};
static_assert(sizeof(Block) == 64);

}  // namespace anyperf::engine
