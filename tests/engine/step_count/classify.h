// classify.h: a second implementation of the definitions in engine/x86_64/decode/classes.h. It uses Zydis' full
// decoder, not the engine's tables, so that a mistake in either shows as a difference between `run --count` and
// single-stepping.
#pragma once

#include <Zydis/Zydis.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/x86_64/decode/classes.h"

namespace anyperf::step_count {

using engine::x86_64::Class;
using engine::x86_64::ClassSet;

using Counts = std::array<std::uint64_t, engine::x86_64::kClassCount>;

/// What the stepper must know of an instruction besides its classes.
enum class Step : std::uint8_t {
    plain,
    conditional,   ///< is_taken() decides from the flags or rcx before it
    repeated,      ///< REP string instruction: traps after each iteration, counts once
    loads_ss,      ///< mov ss: the trap comes after the next instruction
    cpuid,         ///< as loads_ss under hypervisors that emulate it and lose the step
    pushes_flags,  ///< pushf: the pushed image contains the stepper's TF
    syscall,
};

struct Classified {
    std::size_t length = 0;  ///< in bytes; 0: Zydis can't decode them
    ClassSet classes = 0;    ///< without Class::taken for conditional branches, see is_taken()
    Step step = Step::plain;
    int mnemonic = 0;        ///< ZydisMnemonic
    int address_width = 64;  ///< in bits; loop and jrcxz use this part of rcx
};

/// Whether a memory operand is only an address: computed, prefetched or flushed, but not read as data.
bool is_address_only(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand);

/// Classifies the instruction at the start of `bytes`; an incomplete one has length 0.
Classified classify(std::span<const std::uint8_t> bytes);

/// Whether an instruction of Step::conditional branches; `registers` are those before it.
bool is_taken(const Classified& instruction, const user_regs_struct& registers);

/// The instruction in Intel syntax for diagnosis, "?" if it can't be decoded.
std::string disassemble(std::span<const std::uint8_t> bytes, std::uint64_t address);

}  // namespace anyperf::step_count
