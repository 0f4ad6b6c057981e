// effective_address.h: computes which memory an instruction is about to access, from its bytes and the registers before
// it. Watchpoints, and samples with a data address, use this. It can't know the addresses of gathers and scatters,
// which are in vector registers, nor the deeper levels of `enter`.
#pragma once

#include <cstdint>

#include "engine/x86_64/cpu/registers.h"
#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

/// The bases of fs and gs, which Registers does not hold.
struct SegmentBases {
    std::uint64_t fs = 0;
    std::uint64_t gs = 0;
};

/// One contiguous access of an instruction, or of one iteration of a REP string instruction.
struct Access {
    std::uint64_t address = 0;  ///< linear: with the segment base
    std::uint32_t bytes = 0;    ///< 0: unknown; of a gather or scatter, also `address` is invalid
    bool reads = false;
    bool writes = false;
    std::int32_t step = 0;  ///< added to the address by each iteration of a REP; negative if DF is set
};

/// All accesses of an instruction.
struct Accesses {
    Access of[2];
    std::uint32_t count = 0;
    bool repeats = false;  ///< a REP string instruction: rcx iterations
};

/// The bytes that a pop to memory adds to rsp before it computes the address of its operand from rsp (SDM volume 2,
/// POP). 0 for other instructions and operands.
std::int32_t popped_bytes(const Instruction& instruction, const std::uint8_t* code);

/// All accesses of the instruction at registers.rip, except those that the head of this file excludes. That of a named
/// operand comes first, and a string's source before its target. `code`: the instruction's bytes.
Accesses accesses_of(const Instruction& instruction, const std::uint8_t* code, const Registers& registers,
                     const SegmentBases& bases);

}  // namespace anyperf::engine::x86_64
