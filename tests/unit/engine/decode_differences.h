// decode_differences.h: for the oracle: an instruction as Zydis knows it, and the amendments.
#pragma once

#include <Zydis/Zydis.h>

#include <array>

#include "engine/x86_64/instruction.h"

namespace anyperf::engine::x86_64 {

struct Known {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

/// Encodings of a coprocessor, which Zydis decodes with those of CPUs.
bool is_knights_corner(const ZydisDecodedInstruction& instruction);

/// Whether the base register that Zydis gives a memory operand is one.
bool names_base(const Known& known);

/// Applies every row of differences() that fits.
void amend(Instruction& expected, const Known& known);

}  // namespace anyperf::engine::x86_64
