// instruction.h: what the translator needs to know of one x86-64 instruction. Bytes and facts, no text: Zydis, in the
// tests and in the block dump, is for that.
#pragma once

#include <cstdint>

namespace anyperf::engine::x86_64 {

/// General registers as a set: bit n is the register of encoding n (rax 0, rcx 1, rdx 2, rbx 3, rsp 4, … r15 15).
using RegisterSet = std::uint16_t;

/// Status flags as a set, in the positions of rflags: CF 0x1, PF 0x4, AF 0x10, ZF 0x40, SF 0x80, OF 0x800.
using FlagSet = std::uint16_t;
inline constexpr FlagSet kStatusFlags = 0x8d5;

/// Classes that counters count, as a set: bit n is row n of classes.h.
using ClassSet = std::uint16_t;

/// What an instruction does to control, and whether the engine has to do it instead of the CPU.
enum class Control : std::uint8_t {
    none,           ///< goes on with the next instruction; copied, or rewritten where it is position dependent
    conditional,    ///< jcc rel8/rel32
    counted,        ///< loop, loope, loopne, jrcxz, jecxz: rel8 only
    jump,           ///< jmp rel8/rel32
    jump_indirect,  ///< jmp r/m64
    call,           ///< call rel32
    call_indirect,  ///< call r/m64
    ret,            ///< ret, ret imm16
    far,            ///< far jmp/call/ret, iret: changes cs
    syscall,        ///< syscall
    interrupt,     ///< int3, int1, int n, ud0/ud1/ud2, hlt and other privileged ones, in/out: run by the engine only to
                   ///< raise their fault. int 0x80 (immediate 0x80) and sysenter are here: 32-bit system calls
    xbegin,        ///< xbegin: aborts at once
    cpuid,         ///< cpuid
    xgetbv,        ///< xgetbv
    rdtsc,         ///< rdtsc, rdtscp, rdpid
    segment_base,  ///< rdgsbase, wrgsbase; mov to/from gs (rdfsbase, wrfsbase are `none`)
    x87_state,     ///< fnstenv, fnsave, fxsave*, xsave*: store the address of the last x87 instruction
    rdpmc,         ///< rdpmc: #GP unless the kernel permits it; what a virtual counter answers
};

/// The segment override that has an effect in 64-bit mode.
enum class Segment : std::uint8_t { none, fs, gs };

/// One decoded instruction. Offsets are from its first byte; 0 is "there is none" (no such part can be at 0).
struct Instruction {
    std::uint8_t length = 0;
    std::uint8_t opcode_offset = 0;  ///< of the last opcode byte, behind prefixes, REX/VEX/EVEX and escapes
    std::uint8_t rex_offset = 0;     ///< of a legacy REX byte; 0 and has_rex false where there is none
    bool has_rex = false;            ///< rex_offset may be 0: the first byte
    std::uint8_t vex_offset = 0;     ///< of the C5, C4, 62 or 8F byte
    bool has_vex = false;            ///< VEX, EVEX or XOP
    std::uint8_t modrm_offset = 0;
    std::uint8_t sib_offset = 0;
    std::uint8_t displacement_offset = 0;
    std::uint8_t displacement_bytes = 0;  ///< 0, 1, 4; 8 for mov moffs, 4 there with 67
    std::uint8_t immediate_offset = 0;
    std::uint8_t immediate_bytes = 0;  ///< of all immediates together; a branch's displacement counts here
    std::uint8_t opcode = 0;           ///< the last opcode byte
    std::uint8_t map = 0;              ///< 0 one byte, 1 0F, 2 0F38, 3 0F3A; VEX/EVEX/XOP by their own number
    Control control = Control::none;
    Segment segment = Segment::none;  ///< of a memory operand (or string source)
    bool rip_relative = false;        ///< ModRM memory operand relative to the next instruction
    bool address32 = false;           ///< 67 prefix: effective addresses are cut to 32 bits
    bool operand16 = false;           ///< 66 prefix
    bool lock = false;
    bool rep = false;            ///< REP/REPE/REPNE with a string instruction (not a mandatory prefix, not a stray one)
    bool writes_memory = false;  ///< explicitly or implicitly: also push, call, string stores
    bool reads_memory = false;
    bool writes_operand = false;  ///< the memory that it names, by ModRM or mov's own offset
    bool reads_operand = false;
    std::uint8_t implied_bytes = 0;   ///< of memory that it doesn't name: the stack, what strings walk; an iteration's
    std::uint16_t operand_bytes = 0;  ///< of memory that it names; 0: depends on state (xsave, gathers), or unknown
    RegisterSet touched = 0;          ///< general registers named or implied in any way, addresses included
    RegisterSet read = 0;             ///< those whose old value matters (a partial write reads the rest)
    RegisterSet overwritten = 0;      ///< those certainly replaced whole (32- or 64-bit), whatever happens
    FlagSet flags_read = 0;           ///< those whose old value matters; conditional writes count as reads
    FlagSet flags_overwritten = 0;    ///< those certainly replaced on every CPU; "undefined" does not count
    ClassSet classes = 0;
    std::uint64_t immediate = 0;    ///< sign- or zero-extended as the instruction takes it (branches: sign, ret: zero);
                                    ///< of enter and other pairs the bytes as they stand
    std::int64_t displacement = 0;  ///< sign-extended, as it stands: EVEX's compressed byte isn't multiplied
};

}  // namespace anyperf::engine::x86_64
