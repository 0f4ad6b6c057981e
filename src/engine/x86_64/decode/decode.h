// decode.h: decodes the bytes of one instruction into an Instruction, by tables that the build makes from Zydis
// (generate/). It runs on application threads, in the middle of their execution: no allocation, no libc, no vector
// register, and about ten nanoseconds for an instruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

inline constexpr std::size_t kLongestInstruction = 15;  ///< bytes (SDM volume 2, 2.3.11)

enum class DecodeStatus : std::uint8_t {
    ok,
    invalid,    ///< not an instruction: the CPU raises #UD (SIGILL)
    truncated,  ///< more than `size` bytes are needed to decide whether this is an instruction
    too_long,   ///< longer than 15 bytes: the CPU raises #GP (SIGSEGV)
};

/// Decodes the instruction at `bytes`, of which `size` can be read. 15 bytes always suffice. If 32 or more can be read,
/// the decoder reads them in place, which is faster; otherwise it copies them first. `out` is valid only if the result
/// is `ok`.
/// - A 66 prefix before a near branch is ignored, as by Intel's CPUs. AMD's would truncate the target to 16 bits. No
///   program wants that, and the padding 66 48 e8 of thread-local storage code is the same on both.
/// - Some instructions that Zydis does not know (a newer extension in a known opcode map) have a length in the tables.
///   Such an instruction decodes as Control::none. It touches and reads every register and overwrites no flag.
DecodeStatus decode(const std::uint8_t* bytes, std::size_t size, Instruction& out);

/// Whether the instruction is executed outside of any block: the original one by the CPU (Routines::run_in_place), or
/// by the engine. Most of these instructions fault. Each is counted after it has been executed, not with its segment.
inline bool runs_in_place(const Instruction& instruction) {
    switch (instruction.control) {
        case Control::far:
        case Control::interrupt:
        case Control::rdpmc:
        case Control::hidden:
        case Control::presented:
        case Control::xbegin: return true;
        default: return false;
    }
}

/// The target of a direct branch (conditional, rcx_branch, jump, call, xbegin) at `address`.
inline std::uint64_t branch_target(const Instruction& instruction, std::uint64_t address) {
    return address + instruction.length + instruction.immediate;
}

/// The address of the rip-relative operand of an instruction at `address`. A 67 prefix cuts it to 32 bits (SDM volume
/// 2, 2.2.1.6).
inline std::uint64_t operand_address(const Instruction& instruction, std::uint64_t address) {
    const std::uint64_t sum = address + instruction.length + static_cast<std::uint64_t>(instruction.displacement);
    return instruction.address32 ? sum & 0xffffffffu : sum;
}

}  // namespace anyperf::engine::x86_64
