// isa.h: from which CPUs on an instruction exists, as far as a run that presents another CPU than the host's must know
// (`--cpu-model`). The generator derives it from Zydis' ISA sets (generate/isa_sets.h).
#pragma once

#include <cstdint>

#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

/// The values of Instruction::isa without kReadsXcr0. The levels are those of the x86-64 psABI, chapter 3.1.1.
namespace isa {
inline constexpr std::uint8_t kBaseline = 1;
inline constexpr std::uint8_t kV2 = 2;
inline constexpr std::uint8_t kV3 = 3;
inline constexpr std::uint8_t kV4 = 4;
inline constexpr std::uint8_t kWideVectors = 5;  ///< AVX-512 beyond v4, and AMX
inline constexpr std::uint8_t kOther = 6;        ///< in no level
inline constexpr std::uint8_t kKind = 7;
/// xgetbv, and the instructions that save and restore the components that XCR0 enables.
inline constexpr std::uint8_t kReadsXcr0 = 8;
}  // namespace isa

/// Which instructions the presented CPU has.
struct PresentedIsa {
    std::uint8_t level = 0;        ///< N of x86-64-vN; 0: all that the host has
    bool has_others = false;       ///< also the instructions of the host that are isa::kOther
    bool emulates_rdtscp = false;  ///< it has rdtscp, and the host has not
};

/// 0F 01 F9, of the instructions that read the time stamp counter.
inline bool is_rdtscp(const Instruction& instruction) {
    return instruction.control == Control::rdtsc && instruction.opcode == 0x01;
}

/// Changes the control of an instruction that the presented CPU does not have to Control::hidden, and of one that reads
/// XCR0 to Control::presented.
inline void present(Instruction& instruction, PresentedIsa cpu) {
    if (cpu.level == 0) [[likely]]
        return;
    const std::uint8_t kind = instruction.isa & isa::kKind;
    if (instruction.control == Control::interrupt || instruction.control == Control::far) return;
    if (kind > cpu.level && !(cpu.has_others && kind == isa::kOther))
        instruction.control = Control::hidden;
    else if ((instruction.isa & isa::kReadsXcr0) != 0)
        instruction.control = Control::presented;
}

}  // namespace anyperf::engine::x86_64
