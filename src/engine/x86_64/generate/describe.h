// describe.h: translates Zydis's description of an instruction to a Form.
#pragma once

#include "engine/x86_64/decode/form.h"
#include "engine/x86_64/generate/encode.h"

namespace anyperf::engine::x86_64::generate {

/// Everything but LOCK and the constraints on register numbers, which one instruction does not show (constraints.h).
Form describe(const ZydisInstruction& answer);

/// Whether the instruction computes on floating-point values (floating.cpp).
bool is_floating_point(const ZydisDecodedInstruction& instruction);

}  // namespace anyperf::engine::x86_64::generate
