// instruction.h: what the translator needs to know of one x86-64 instruction: its layout in bytes and its effects.
// There is no text: the tests and tools disassemble with Zydis.
#pragma once

#include <cstdint>

namespace anyperf::engine::x86_64 {

/// General registers as a set: bit n is the register of encoding n (rax 0, rcx 1, rdx 2, rbx 3, rsp 4, … r15 15).
using RegisterSet = std::uint16_t;

/// Status flags as a set, in the positions of rflags: CF 0x1, PF 0x4, AF 0x10, ZF 0x40, SF 0x80, OF 0x800.
using FlagSet = std::uint16_t;
inline constexpr FlagSet kStatusFlags = 0x8d5;

/// The x87 stack among the vector registers.
inline constexpr std::uint64_t kX87Stack = std::uint64_t{1} << 32;

/// Classes that counters count, as a set: bit n is row n of classes.h. Bit kCountsTwice is no class.
using ClassSet = std::uint32_t;

/// How an instruction changes control, and whether the engine executes it instead of the CPU.
enum class Control : std::uint8_t {
    none,           ///< continues with the next instruction; copied, or rewritten if it depends on its address
    conditional,    ///< jcc rel8/rel32
    rcx_branch,     ///< loop, loope, loopne, jrcxz, jecxz: rel8 only
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
    random,        ///< rdrand, rdseed
    segment_base,  ///< rdgsbase, wrgsbase; mov to/from gs (rdfsbase, wrfsbase are `none`)
    x87_state,     ///< fnstenv, fnsave, fxsave*, xsave*: store the address of the last x87 instruction, which is the
                   ///< host's here and must be replaced
    rdpmc,         ///< rdpmc: #GP unless the kernel permits it
    // These two come from present() only (isa.h).
    hidden,     ///< the presented CPU does not have this instruction: #UD
    presented,  ///< xgetbv, xsave*, xrstor*, where the presented CPU has another XCR0 than the host
};

/// The segment override that has an effect in 64-bit mode.
enum class Segment : std::uint8_t { none, fs, gs };

/// One decoded instruction. Offsets are from its first byte; 0 means that it has no such part, which can't be at 0.
struct Instruction {
    std::uint8_t length = 0;
    std::uint8_t opcode_offset = 0;  ///< of the last opcode byte, after prefixes, REX/VEX/EVEX and escapes
    std::uint8_t rex_offset = 0;     ///< of the REX byte, which may be 0: valid only if has_rex
    bool has_rex = false;
    std::uint8_t vex_offset = 0;  ///< of the C5, C4, 62 or 8F byte
    bool has_vex = false;         ///< VEX, EVEX or XOP
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
    bool writes_operand = false;  ///< writes the memory of its explicit operand: ModRM, or the offset of mov moffs
    bool reads_operand = false;
    std::uint8_t implied_bytes = 0;  ///< of memory without an explicit operand: the stack, strings (one iteration)
    std::uint16_t operand_bytes =
        0;                        ///< of its explicit memory operand; 0: depends on state (xsave, gathers), or unknown
    RegisterSet touched = 0;      ///< general registers named or implied in any way, addresses included
    RegisterSet read = 0;         ///< those whose old value matters (a partial write depends on the rest)
    RegisterSet overwritten = 0;  ///< those that are certainly replaced entirely (by 32 or 64 bits)
    RegisterSet written = 0;      ///< those that may change, in part or under a condition
    FlagSet flags_read = 0;       ///< those whose old value matters; conditional writes count as reads
    FlagSet flags_overwritten = 0;  ///< those certainly replaced on every CPU; not those the manual calls undefined
    ClassSet classes = 0;
    // For the model of cycles (translate/cost.h). Zydis knows these less exactly than the sets above.
    std::uint8_t timing = 0;   ///< number of its Timing (timing.h)
    bool tests_flags = false;  ///< waits for the status flags: adc, cmov, jcc
    bool sets_flags = false;
    std::uint8_t isa = 0;           ///< from which CPUs on it exists (isa.h)
    std::uint64_t vector_read = 0;  ///< vector registers; bit 32 is the x87 stack
    std::uint64_t vector_written = 0;
    std::uint64_t immediate = 0;    ///< sign- or zero-extended as the instruction does (branches: sign, ret: zero); of
                                    ///< two immediates (enter) the bytes in their order
    std::int64_t displacement = 0;  ///< sign-extended; EVEX's disp8*N is not yet multiplied by N
};

/// Whether it is a near call, direct or indirect.
inline bool is_call(const Instruction& instruction) {
    return instruction.control == Control::call || instruction.control == Control::call_indirect;
}

/// Whether it accesses memory atomically: by a lock prefix, or as an xchg, which needs none.
inline bool is_atomic(const Instruction& instruction) {
    const bool exchange = instruction.map == 0 && (instruction.opcode & 0xfe) == 0x86;
    return instruction.lock || (exchange && instruction.writes_operand);
}

/// Whether its displacement is a byte that the CPU multiplies by a number N (SDM volume 2, 2.7.5, disp8*N). `code`: its
/// bytes.
inline bool has_compressed_displacement(const Instruction& instruction, const std::uint8_t* code) {
    constexpr std::uint8_t kEvex = 0x62;
    return instruction.has_vex && code[instruction.vex_offset] == kEvex && instruction.displacement_bytes == 1;
}

}  // namespace anyperf::engine::x86_64
