// effective_address.h: which memory an instruction is about to touch, from the registers before it.
#pragma once

#include <cstdint>

#include "engine/x86_64/instruction.h"
#include "engine/x86_64/registers.h"

namespace anyperf::engine::x86_64 {

/// Bases of fs and gs, which the registers do not tell.
struct SegmentBases {
    std::uint64_t fs = 0;
    std::uint64_t gs = 0;
};

/// One piece of memory that an instruction touches, each time once.
struct Access {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    bool reads = false;
    bool writes = false;
    std::int32_t step = 0;  ///< from one iteration of a REP to the next
};

struct Accesses {
    Access of[2];
    std::uint32_t count = 0;
    bool repeats = false;
};

/// Everything that the instruction at registers.rip is about to touch, but for gathers and scatters, whose addresses
/// stand in vector registers, and the deeper levels of `enter`.
Accesses accesses_of(const Instruction& instruction, const std::uint8_t* code, const Registers& registers,
                     const SegmentBases& bases);

/// The address of the instruction's memory operand, named or implied; where it has two (push [m], movs), the one that
/// is read. 0: it touches none. `code` are its bytes, at the application's address registers.rip. Vector gathers and
/// scatters have no one address: 0.
std::uint64_t accessed_address(const Instruction& instruction, const std::uint8_t* code, const Registers& registers,
                               const SegmentBases& bases);

}  // namespace anyperf::engine::x86_64
