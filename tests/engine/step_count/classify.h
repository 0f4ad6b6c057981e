// classify.h: the definitions of engine/x86_64/classes.h once more, from Zydis' full decode instead of the engine's
// tables, so that a mistake in one of them shows as a difference between `run --count` and single-stepping.
#pragma once

#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/x86_64/classes.h"

namespace anyperf::step_count {

using engine::x86_64::Class;
using engine::x86_64::ClassSet;

using Counts = std::array<std::uint64_t, engine::x86_64::kClassCount>;

/// What stepping over an instruction has to know, besides what it counts as.
enum class Step : std::uint8_t {
    plain,
    conditional,   ///< `taken` goes by the flags or rcx before it
    repeated,      ///< REP string: a trap after each iteration, one instruction
    loads_ss,      ///< mov ss, pop ss: the trap comes after the next instruction
    pushes_flags,  ///< pushf: the pushed image shows the stepper's own TF
    syscall,
};

struct Classified {
    std::size_t length = 0;  ///< 0: Zydis does not know these bytes
    ClassSet classes = 0;    ///< without `taken` where that is for taken() to say
    Step step = Step::plain;
    int mnemonic = 0;        ///< ZydisMnemonic
    int address_width = 64;  ///< of loop and jrcxz: which part of rcx they look at
};

/// Classifies the instruction that `bytes` begin with; a beginning of one gives length 0.
Classified classify(std::span<const std::uint8_t> bytes);

/// Whether a Step::conditional instruction branches, with the registers as they are before it.
bool taken(const Classified& instruction, const user_regs_struct& registers);

/// Its text, for diagnosis.
std::string text(std::span<const std::uint8_t> bytes, std::uint64_t address);

}  // namespace anyperf::step_count
