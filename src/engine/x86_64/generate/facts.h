// facts.h: where Zydis does not say what the engine needs, or says otherwise than CPUs and hardware counters do. Each
// row is one fact about a mnemonic, with the reason.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <string_view>

#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64::generate {

/// How an instruction differs from what Zydis says of its operands and flags.
enum class Fact : std::uint8_t {
    no_access,          ///< its memory operand is not accessed, or the access is not counted as a load or store
    overwrites_af,      ///< AF is documented as undefined, but every CPU replaces it
    zf_only,            ///< a CPU without the extension executes an older instruction that defines ZF only
    keeps_destination,  ///< may leave the destination unchanged
    interrupts,         ///< Control::interrupt
    x87_state,          ///< Control::x87_state
    everything,         ///< reads all registers and flags: the kernel sees them
};

struct FactRow {
    ZydisMnemonic mnemonic;
    Fact fact;
    std::string_view reason;
};

inline constexpr std::array kFacts{
    FactRow{ZYDIS_MNEMONIC_NOP, Fact::no_access, "the operand of a wide nop is never read; Zydis says READ"},
    FactRow{ZYDIS_MNEMONIC_PREFETCH, Fact::no_access, "a hint: no access retires, none faults"},
    FactRow{ZYDIS_MNEMONIC_PREFETCHNTA, Fact::no_access, "a hint"},
    FactRow{ZYDIS_MNEMONIC_PREFETCHT0, Fact::no_access, "a hint"},
    FactRow{ZYDIS_MNEMONIC_PREFETCHT1, Fact::no_access, "a hint"},
    FactRow{ZYDIS_MNEMONIC_PREFETCHT2, Fact::no_access, "a hint"},
    FactRow{ZYDIS_MNEMONIC_PREFETCHW, Fact::no_access, "a hint"},
    FactRow{ZYDIS_MNEMONIC_PREFETCHWT1, Fact::no_access, "a hint"},
    FactRow{ZYDIS_MNEMONIC_CLDEMOTE, Fact::no_access, "a hint"},
    FactRow{ZYDIS_MNEMONIC_CLFLUSH, Fact::no_access, "acts on the cache; not counted as a load or store"},
    FactRow{ZYDIS_MNEMONIC_CLFLUSHOPT, Fact::no_access, "acts on the cache"},
    FactRow{ZYDIS_MNEMONIC_CLWB, Fact::no_access, "acts on the cache"},
    FactRow{ZYDIS_MNEMONIC_UD0, Fact::no_access, "faults before its operand"},
    FactRow{ZYDIS_MNEMONIC_UD1, Fact::no_access, "faults before its operand"},

    FactRow{ZYDIS_MNEMONIC_AND, Fact::overwrites_af, "AF becomes 0: measured on Zen 4, and the same on Intel"},
    FactRow{ZYDIS_MNEMONIC_OR, Fact::overwrites_af, "as and"},
    FactRow{ZYDIS_MNEMONIC_XOR, Fact::overwrites_af, "as and"},
    FactRow{ZYDIS_MNEMONIC_TEST, Fact::overwrites_af, "as and"},
    FactRow{ZYDIS_MNEMONIC_SBB, Fact::overwrites_af, "Zydis omits AF; SDM: OF, SF, ZF, AF, PF and CF are set"},

    FactRow{ZYDIS_MNEMONIC_BSF, Fact::keeps_destination, "if the source is 0 (documented by AMD; Intel does the same)"},
    FactRow{ZYDIS_MNEMONIC_BSR, Fact::keeps_destination, "as bsf"},
    FactRow{ZYDIS_MNEMONIC_TZCNT, Fact::keeps_destination,
            "executes as bsf without BMI1, and compilers emit it for that case"},
    FactRow{ZYDIS_MNEMONIC_TZCNT, Fact::zf_only, "executes as bsf without BMI1"},
    FactRow{ZYDIS_MNEMONIC_LZCNT, Fact::keeps_destination, "executes as bsr without the extension"},
    FactRow{ZYDIS_MNEMONIC_LZCNT, Fact::zf_only, "executes as bsr without the extension"},
    FactRow{ZYDIS_MNEMONIC_RDSSPD, Fact::keeps_destination, "a nop without shadow stacks: setjmp zeroes rax and asks"},
    FactRow{ZYDIS_MNEMONIC_RDSSPQ, Fact::keeps_destination, "as rdsspd"},
    FactRow{ZYDIS_MNEMONIC_LAR, Fact::keeps_destination, "if the selector is not accessible"},
    FactRow{ZYDIS_MNEMONIC_LSL, Fact::keeps_destination, "if the selector is not accessible"},
    FactRow{ZYDIS_MNEMONIC_SMSW, Fact::keeps_destination, "the kernel emulates it under UMIP, in 16 bits"},
    FactRow{ZYDIS_MNEMONIC_SLDT, Fact::keeps_destination, "as smsw"},
    FactRow{ZYDIS_MNEMONIC_STR, Fact::keeps_destination, "as smsw"},

    FactRow{ZYDIS_MNEMONIC_INT3, Fact::interrupts, "#BP"},
    FactRow{ZYDIS_MNEMONIC_INT1, Fact::interrupts, "#DB"},
    FactRow{ZYDIS_MNEMONIC_INT, Fact::interrupts, "#GP, except int 0x80, a 32-bit system call: the immediate decides"},
    FactRow{ZYDIS_MNEMONIC_UD0, Fact::interrupts, "#UD"},
    FactRow{ZYDIS_MNEMONIC_UD1, Fact::interrupts, "#UD"},
    FactRow{ZYDIS_MNEMONIC_UD2, Fact::interrupts, "#UD"},
    FactRow{ZYDIS_MNEMONIC_IN, Fact::interrupts, "#GP without I/O permission, which programs rarely have"},
    FactRow{ZYDIS_MNEMONIC_OUT, Fact::interrupts, "as in"},
    FactRow{ZYDIS_MNEMONIC_INSB, Fact::interrupts, "as in"},
    FactRow{ZYDIS_MNEMONIC_INSW, Fact::interrupts, "as in"},
    FactRow{ZYDIS_MNEMONIC_INSD, Fact::interrupts, "as in"},
    FactRow{ZYDIS_MNEMONIC_OUTSB, Fact::interrupts, "as in"},
    FactRow{ZYDIS_MNEMONIC_OUTSW, Fact::interrupts, "as in"},
    FactRow{ZYDIS_MNEMONIC_OUTSD, Fact::interrupts, "as in"},
    FactRow{ZYDIS_MNEMONIC_CLI, Fact::interrupts, "#GP"},
    FactRow{ZYDIS_MNEMONIC_STI, Fact::interrupts, "#GP"},
    FactRow{ZYDIS_MNEMONIC_SYSENTER, Fact::interrupts,
            "#UD on AMD; on Intel a 32-bit system call that returns elsewhere"},
    FactRow{ZYDIS_MNEMONIC_ENCLU, Fact::interrupts, "enters and leaves an enclave: control the engine can't follow"},
    FactRow{ZYDIS_MNEMONIC_RSM, Fact::interrupts, "#UD outside of system management mode"},
    FactRow{ZYDIS_MNEMONIC_GETSEC, Fact::interrupts, "#GP or #UD"},

    FactRow{ZYDIS_MNEMONIC_FNSTENV, Fact::x87_state, "stores the address of the last x87 instruction"},
    FactRow{ZYDIS_MNEMONIC_FNSAVE, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_FXSAVE, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_FXSAVE64, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_XSAVE, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_XSAVE64, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_XSAVEC, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_XSAVEC64, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_XSAVEOPT, Fact::x87_state, "as fnstenv"},
    FactRow{ZYDIS_MNEMONIC_XSAVEOPT64, Fact::x87_state, "as fnstenv"},
};

constexpr bool has(ZydisMnemonic mnemonic, Fact fact) {
    for (const FactRow& row : kFacts)
        if (row.mnemonic == mnemonic && row.fact == fact) return true;
    return false;
}

}  // namespace anyperf::engine::x86_64::generate
