// constraints.h: which register numbers a form allows, found out by asking.
#pragma once

#include <optional>

#include "engine/x86_64/form.h"
#include "engine/x86_64/generate/probe.h"

namespace anyperf::engine::x86_64::generate {

/// The form of one selector value: described, with its constraints; nothing where there is no instruction.
std::optional<Form> form_of(Space space, std::uint8_t opcode, std::uint16_t selector);

/// One form for ModRM with a register and with memory, where the two only differ in what matters for one of them.
std::optional<Form> merged(const Form& with_memory, const Form& with_register);

}  // namespace anyperf::engine::x86_64::generate
