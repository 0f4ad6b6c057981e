// registers.h: the general registers, numbered as instructions encode them, and the application's values of them.
#pragma once

#include <cstdint>

namespace anyperf::engine::x86_64 {

enum Register : std::uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

inline constexpr unsigned kRegisters = 16;

/// TF of rflags: a trap after each instruction (SDM volume 3, 18.3.1.4).
inline constexpr std::uint64_t kTrapFlag = 0x100;
/// RF of rflags: a breakpoint at the next instruction does not trigger (SDM volume 3, 18.3.1.1). The engine does the
/// same: RF in a signal frame means that the breakpoint at the frame's rip has been reported, so it is not reported
/// again after the return.
inline constexpr std::uint64_t kResumeFlag = 0x10000;

/// The application's general registers, rip and flags while it does not run.
struct Registers {
    std::uint64_t r[kRegisters] = {};
    std::uint64_t rip = 0;
    std::uint64_t flags = 0x202;  // IF and the bit that is always set, as the kernel starts a program
};

}  // namespace anyperf::engine::x86_64
