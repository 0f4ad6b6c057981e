// decode.h: bytes to Instruction, by tables that the build makes from Zydis (tools in x86_64/generate/). Runs on
// application threads: no allocation, no libc, some ten nanoseconds an instruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/x86_64/instruction.h"

namespace anyperf::engine::x86_64 {

inline constexpr std::size_t kLongestInstruction = 15;  ///< bytes (SDM volume 2, 2.3.11)

enum class DecodeStatus : std::uint8_t {
    ok,
    invalid,    ///< no CPU runs it: #UD at its address
    truncated,  ///< `size` bytes are a beginning of an instruction: more would be needed to tell
    too_long,   ///< more than 15 bytes: #GP at its address (SIGSEGV, where `invalid` is SIGILL)
};

/// Decodes the instruction at `bytes`, of which `size` can be read: 15 decide, from 32 on none are copied first. `out`
/// is only meaningful for `ok`. 66 before a near branch is ignored, as Intel's CPUs do (AMD's would cut the target to
/// 16 bits; no program means that, and 66 48 e8 of thread-local storage is the same on both). An instruction that Zydis
/// does not know but whose form the tables do (a newer extension in a known map) decodes as Control::none with every
/// register touched and read, and no flag overwritten.
DecodeStatus decode(const std::uint8_t* bytes, std::size_t size, Instruction& out);

/// Whether the engine sends the CPU to the instruction in place, one at a time, because it most likely faults: such an
/// instruction counts when it has run, not with its block.
inline bool runs_in_place(const Instruction& instruction) {
    switch (instruction.control) {
        case Control::far:
        case Control::interrupt:
        case Control::rdpmc:
        case Control::xbegin: return true;
        default: return false;
    }
}

/// The target of a direct branch (conditional, counted, jump, call, xbegin) that stands at `address`.
inline std::uint64_t branch_target(const Instruction& instruction, std::uint64_t address) {
    return address + instruction.length + instruction.immediate;
}

/// The address that a rip-relative operand of an instruction at `address` names.
inline std::uint64_t operand_address(const Instruction& instruction, std::uint64_t address) {
    return address + instruction.length + static_cast<std::uint64_t>(instruction.displacement);
}

}  // namespace anyperf::engine::x86_64
