// constraints.h: builds the form of one opcode and selector, including the register numbers that it allows. Zydis does
// not document those restrictions, so they are found by decoding variants of the instruction.
#pragma once

#include <optional>

#include "engine/x86_64/decode/form.h"
#include "engine/x86_64/generate/encode.h"

namespace anyperf::engine::x86_64::generate {

/// The complete form of one selector value; nothing if no encoding with it is an instruction.
std::optional<Form> form_of(Space space, std::uint8_t opcode, std::uint16_t selector);

/// One form for ModRM with a memory operand and with a register. Nothing if the two differ in a property that matters
/// for both, except in what only the model of cycles uses.
std::optional<Form> merged(const Form& with_memory, const Form& with_register);

}  // namespace anyperf::engine::x86_64::generate
