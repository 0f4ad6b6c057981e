// decode_differences.h: internal to the oracle: an instruction as Zydis decodes it, and the amendments to its answer.
#pragma once

#include <Zydis/Zydis.h>

#include <array>

#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

struct Known {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

/// Whether the encoding is one of the Knights Corner coprocessor, which Zydis decodes too but no x86-64 CPU has.
bool is_knights_corner(const ZydisDecodedInstruction& instruction);

/// Whether the base register that Zydis reports for the memory operand is really used.
bool names_base(const Known& known);

/// Applies every row of differences() that matches the instruction.
void amend(Instruction& expected, const Known& known);

}  // namespace anyperf::engine::x86_64
