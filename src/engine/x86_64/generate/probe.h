// probe.h: writes an instruction with given fields, and asks Zydis what it is.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>

#include "engine/x86_64/form.h"

namespace anyperf::engine::x86_64::generate {

/// Everything that can be chosen. Registers have five bits where the encoding has five.
struct Fields {
    Space space = Space::one_byte;
    std::uint8_t opcode = 0;
    std::uint16_t selector = 0;  ///< its rm and reg bits are the low bits of the registers
    std::uint8_t reg_high = 0;   ///< R'R
    std::uint8_t rm_high = 0;    ///< XB
    std::uint8_t vvvv = 0;       ///< V'vvvv, not inverted: 0 is 1111
    bool sib = false;            ///< memory operand with a SIB byte
    std::uint8_t index = 0;      ///< of the SIB byte, three bits
    bool rip = false;            ///< memory operand relative to rip
    bool lock = false;
};

struct Answer {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

/// Zydis's answer for 64-bit mode; nothing where it knows no such instruction.
std::optional<Answer> ask(const Fields& fields);

inline unsigned bits(std::uint16_t selector, unsigned low, unsigned count) {
    return selector >> low & ((1u << count) - 1);
}

}  // namespace anyperf::engine::x86_64::generate
