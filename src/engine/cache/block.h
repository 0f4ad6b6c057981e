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
    std::int64_t signed_target : 58 = 0;  ///< addresses have 57 bits, and the last again above them
    std::uint64_t control_number : 6 = 0;
    std::uint64_t from : 22 = 0;     ///< a block
    std::uint64_t to : 22 = 0;       ///< the one that it is linked to; 0: none
    std::uint64_t operand : 16 = 0;  ///< the rel32 to patch when the target is translated, in bytes from the first of
                                     ///< `from`; 0: this exit never links
    std::uint64_t length : 4 = 0;    ///< of the instruction that the engine has to do with, which ends at the target
    ExitId next_incoming = 0;        ///< list of exits linked to `to`
    std::int32_t stub = 0;           ///< where the operand leads while nothing is linked, in bytes from the operand

    std::uint64_t target() const { return static_cast<std::uint64_t>(std::int64_t{signed_target}); }
    void lead_to(std::uint64_t address) { signed_target = static_cast<std::int64_t>(address << 6) >> 6; }
    /// Of the instruction that the engine has to do with.
    x86_64::Control control() const { return static_cast<x86_64::Control>(control_number); }
    void stop_behind(const x86_64::Instruction& instruction) {
        control_number = static_cast<std::uint64_t>(instruction.control) & 63u;
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
    std::uint8_t exits = 0;  ///< that a byte is enough is asserted in x86_64/translate.h
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
