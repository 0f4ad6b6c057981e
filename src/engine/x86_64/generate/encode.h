// encode.h: encodes an instruction from given fields and lets Zydis decode it.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>

#include "engine/x86_64/decode/form.h"

namespace anyperf::engine::x86_64::generate {

/// The fields of an encoding. Register numbers have five bits where the encoding has five.
struct EncodingFields {
    Space space = Space::one_byte;
    std::uint8_t opcode = 0;
    std::uint16_t selector = 0;  ///< as in form.h; its rm and reg bits are the low bits of the register numbers
    std::uint8_t reg_high = 0;   ///< R'R
    std::uint8_t rm_high = 0;    ///< XB
    std::uint8_t vvvv = 0;       ///< V'vvvv, not inverted: 0 is encoded as 1111
    bool sib = false;            ///< memory operand with a SIB byte
    std::uint8_t index = 0;      ///< of the SIB byte, three bits
    bool rip = false;            ///< memory operand relative to rip
    bool lock = false;
};

/// A decoded instruction and its operands.
struct ZydisInstruction {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

/// What Zydis decodes in 64-bit mode; nothing if the encoding is not an instruction.
std::optional<ZydisInstruction> decode_with_zydis(const EncodingFields& fields);

/// `count` bits of the selector, from bit `low` on.
inline unsigned bits(std::uint16_t selector, unsigned low, unsigned count) {
    return selector >> low & ((1u << count) - 1);
}

}  // namespace anyperf::engine::x86_64::generate
