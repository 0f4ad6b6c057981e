// describe.h: Zydis's answer as a Form.
#pragma once

#include "engine/x86_64/form.h"
#include "engine/x86_64/generate/probe.h"

namespace anyperf::engine::x86_64::generate {

/// All but the constraints on register numbers and LOCK, which take more than one question.
Form describe(const Answer& answer);

/// Whether the answer's mnemonic computes on floating-point elements (floating.cpp).
bool is_floating_point(const ZydisDecodedInstruction& instruction);

}  // namespace anyperf::engine::x86_64::generate
