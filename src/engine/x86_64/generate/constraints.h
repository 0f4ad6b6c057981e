// constraints.h: which register numbers a form allows, found out by asking.
#pragma once

#include <optional>

#include "engine/x86_64/form.h"
#include "engine/x86_64/generate/probe.h"

namespace anyperf::engine::x86_64::generate {

/// The form of one selector value: described, with its constraints; nothing where there is no instruction.
std::optional<Form> form_of(Space space, std::uint8_t opcode, std::uint16_t selector);

}  // namespace anyperf::engine::x86_64::generate
