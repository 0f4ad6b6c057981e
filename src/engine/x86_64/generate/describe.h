// describe.h: translates Zydis's description of an instruction to a Form.
#pragma once

#include <optional>

#include "engine/x86_64/decode/form.h"
#include "engine/x86_64/generate/encode.h"

namespace anyperf::engine::x86_64::generate {

/// Everything but LOCK and the constraints on register numbers, which one instruction does not show (constraints.h).
Form describe(const ZydisInstruction& answer);

/// How FP_ARITH_INST_RETIRED counts an instruction.
struct CountedByWidth {
    unsigned width;  ///< index of its class in kWidthClasses
    bool twice;      ///< adds 2
};

/// How the instruction is counted by the width of its operands; none: it is not.
std::optional<CountedByWidth> counted_by_width(const ZydisDecodedInstruction& instruction);

/// Whether the instruction computes on floating-point values (floating.cpp).
bool is_floating_point(const ZydisDecodedInstruction& instruction);

}  // namespace anyperf::engine::x86_64::generate
