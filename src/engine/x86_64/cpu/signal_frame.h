// signal_frame.h: the kernel's signal frame on x86-64, byte for byte (uapi asm/sigcontext.h and asm/ucontext.h).
// Programs, unwinders and debuggers read it, edit it and return through it. These are our own structures, because the
// kernel's headers and those of libc define the same names and can't be included together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine::x86_64 {

/// struct sigcontext_64.
struct SignalContext {
    std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
    std::uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags;
    std::uint16_t cs, gs, fs, ss;
    std::uint64_t err, trapno, oldmask, cr2;
    std::uint64_t fpstate;  ///< address of the saved vector state; 0: none, sigreturn resets it
    std::uint64_t reserved[8];
};
static_assert(sizeof(SignalContext) == 256);

/// stack_t.
struct SignalStack {
    std::uint64_t sp = 0;
    std::int32_t flags = 0;
    std::uint32_t padding = 0;
    std::uint64_t size = 0;
};

/// siginfo_t. The engine interprets only its beginning.
struct SignalInfo {
    std::int32_t signo;
    std::int32_t error;
    std::int32_t code;
    std::int32_t padding;
    std::uint64_t address;  ///< si_addr of a fault
    std::uint8_t rest[104];
};
static_assert(sizeof(SignalInfo) == 128);

/// struct ucontext.
struct UserContext {
    std::uint64_t flags;
    std::uint64_t link;
    SignalStack stack;
    SignalContext context;
    std::uint64_t mask;
};
static_assert(sizeof(UserContext) == 304);

/// struct rt_sigframe.
struct SignalFrame {
    std::uint64_t restorer;
    UserContext user;
    SignalInfo info;
};
static_assert(sizeof(SignalFrame) == 440);

inline constexpr std::uint16_t kUserCs = 0x33;  // selectors of a 64-bit program (__USER_CS, __USER_DS)
inline constexpr std::uint16_t kUserSs = 0x2b;

inline constexpr std::uint64_t kContextHasXstate = 1;  // UC_FP_XSTATE
inline constexpr std::uint64_t kContextHasSs = 2;      // UC_SIGCONTEXT_SS
inline constexpr std::uint64_t kContextStrictSs = 4;   // UC_STRICT_RESTORE_SS

/// struct _fpx_sw_bytes, in the software-available bytes at the end of the 512-byte legacy area (kXstateNoteOffset).
struct XstateNote {
    std::uint32_t magic;          ///< FP_XSTATE_MAGIC1
    std::uint32_t extended_size;  ///< bytes of the xsave area and FP_XSTATE_MAGIC2 after it
    std::uint64_t features;       ///< components that xsave saved, bits of XCR0
    std::uint32_t size;           ///< bytes of the xsave area
    std::uint32_t padding[7];
};
inline constexpr std::size_t kXstateNoteOffset = 464;
inline constexpr std::uint32_t kXstateMagic1 = 0x46505853;
inline constexpr std::uint32_t kXstateMagic2 = 0x46505845;
inline constexpr std::size_t kLegacyXstateBytes = 512;
inline constexpr std::size_t kXstateHeaderBytes = 64;

}  // namespace anyperf::engine::x86_64
