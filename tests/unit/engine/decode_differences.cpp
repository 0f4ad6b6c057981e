// decode_differences.cpp: the table of instructions for which our decoder is right and Zydis 4.0 is not, or is less
// exact, with the reasons.
#include "unit/engine/decode_differences.h"

#include <algorithm>

#include "unit/engine/decode_oracle.h"

namespace anyperf::engine::x86_64 {
namespace {

struct Row {
    Difference difference;
    bool (*applies)(const Known&);
    void (*amend)(Instruction&, const Known&);
};

constexpr FlagSet kCf = 1;
constexpr FlagSet kAf = 0x10;
constexpr FlagSet kZf = 0x40;
constexpr FlagSet kOf = 0x800;
constexpr FlagSet kResult = kStatusFlags & ~(kAf | kOf);  // the flags besides OF that a shift defines
constexpr RegisterSet kRaxAndR8 = 0x101;
constexpr RegisterSet kRcxAndR11 = 0x802;
constexpr RegisterSet kPointers = 0xc0;  // rsi, rdi

template <ZydisMnemonic... mnemonics>
bool is(const Known& known) {
    return ((known.instruction.mnemonic == mnemonics) || ...);
}

void no_access(Instruction& e, const Known&) {
    e.reads_memory = e.writes_memory = e.reads_operand = e.writes_operand = false;
}

void may_keep_destination(Instruction& e, const Known&) {
    e.read |= e.overwritten;
    e.overwritten = 0;
}

void all_visible(Instruction& e, const Known&) {
    e.touched = e.read = 0xffff;
    e.overwritten = 0;
    e.flags_read = kStatusFlags;
    e.flags_overwritten = 0;
}

bool faults_in_user_mode(const Known& known) {
    return known.instruction.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ||
           is<ZYDIS_MNEMONIC_INT, ZYDIS_MNEMONIC_INT1, ZYDIS_MNEMONIC_INT3, ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1,
              ZYDIS_MNEMONIC_UD2, ZYDIS_MNEMONIC_IN, ZYDIS_MNEMONIC_OUT, ZYDIS_MNEMONIC_INSB, ZYDIS_MNEMONIC_INSW,
              ZYDIS_MNEMONIC_INSD, ZYDIS_MNEMONIC_OUTSB, ZYDIS_MNEMONIC_OUTSW, ZYDIS_MNEMONIC_OUTSD, ZYDIS_MNEMONIC_CLI,
              ZYDIS_MNEMONIC_STI, ZYDIS_MNEMONIC_SYSENTER, ZYDIS_MNEMONIC_ENCLU, ZYDIS_MNEMONIC_RSM,
              ZYDIS_MNEMONIC_GETSEC>(known);
}

bool is_far(const Known& known) {
    return known.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
           is<ZYDIS_MNEMONIC_IRET, ZYDIS_MNEMONIC_IRETD, ZYDIS_MNEMONIC_IRETQ, ZYDIS_MNEMONIC_UIRET>(known);
}

bool repeats(const Known& known) {
    return known.instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

bool is_string(const Known& known) {
    return known.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

bool shifts_by_immediate(const Known& known) {
    return known.instruction.raw.imm[0].size == 8 &&
           is<ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR, ZYDIS_MNEMONIC_SAR, ZYDIS_MNEMONIC_SHLD, ZYDIS_MNEMONIC_SHRD,
              ZYDIS_MNEMONIC_ROL, ZYDIS_MNEMONIC_ROR>(known);
}

/// The count is certainly not 0, and small enough that CF is defined.
bool certainly_shifts(const Known& known) {
    const unsigned width = known.instruction.operand_width;
    const bool six_bits = known.instruction.raw.rex.W;  // of 8-bit shifts too: the count may exceed the width
    const unsigned count = static_cast<unsigned>(known.instruction.raw.imm[0].value.u) & (six_bits ? 63 : 31);
    if (count == 0) return false;
    return width >= 32 || (count < 8 && !is<ZYDIS_MNEMONIC_SHLD, ZYDIS_MNEMONIC_SHRD>(known));
}

bool zeroes(const Known& known) {
    return is<ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_SUB>(known) && known.instruction.operand_width >= 32 &&
           known.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           known.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           known.operands[0].reg.value == known.operands[1].reg.value;
}

bool has_false_base(const Known& known) {
    const auto& raw = known.instruction.raw;
    return known.instruction.attributes & ZYDIS_ATTRIB_HAS_SIB && raw.modrm.mod == 0 && raw.sib.base == 5 &&
           std::ranges::any_of(known.operands, [&](const auto& o) {
               return o.type == ZYDIS_OPERAND_TYPE_MEMORY && o.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM &&
                      o.mem.base == ZYDIS_REGISTER_R13D;
           });
}

constexpr std::array kRows{
    Row{{"wide nop", "does not read its operand"}, is<ZYDIS_MNEMONIC_NOP>, no_access},
    Row{{"prefetch, cldemote", "are hints, which access no memory"},
        is<ZYDIS_MNEMONIC_PREFETCH, ZYDIS_MNEMONIC_PREFETCHNTA, ZYDIS_MNEMONIC_PREFETCHT0, ZYDIS_MNEMONIC_PREFETCHT1,
           ZYDIS_MNEMONIC_PREFETCHT2, ZYDIS_MNEMONIC_PREFETCHW, ZYDIS_MNEMONIC_PREFETCHWT1, ZYDIS_MNEMONIC_CLDEMOTE>,
        no_access},
    Row{{"clflush, clwb", "act on the cache; no load or store retires"},
        is<ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT, ZYDIS_MNEMONIC_CLWB>,
        no_access},
    Row{{"ud0, ud1", "fault before their operand"}, is<ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1>, no_access},
    Row{{"and, or, xor, test", "replace AF too, on every CPU"},
        is<ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_OR, ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_TEST>,
        [](Instruction& e, const Known&) { e.flags_overwritten = kStatusFlags; }},
    Row{{"xor, sub of a register and itself", "give 0 whatever the register held"},
        zeroes,
        [](Instruction& e, const Known&) { e.read = 0; }},
    Row{{"sbb", "sets AF as well (SDM)"},
        is<ZYDIS_MNEMONIC_SBB>,
        [](Instruction& e, const Known&) { e.flags_overwritten |= kAf; }},
    Row{{"bsf, bsr", "may keep the destination"}, is<ZYDIS_MNEMONIC_BSF, ZYDIS_MNEMONIC_BSR>, may_keep_destination},
    Row{{"tzcnt, lzcnt", "are bsf and bsr on older CPUs: only ZF is certain to be written, the destination is not"},
        is<ZYDIS_MNEMONIC_TZCNT, ZYDIS_MNEMONIC_LZCNT>,
        [](Instruction& e, const Known& known) {
            may_keep_destination(e, known);
            e.flags_overwritten &= kZf;
        }},
    Row{{"rdssp", "is a nop without a shadow stack"},
        is<ZYDIS_MNEMONIC_RDSSPD, ZYDIS_MNEMONIC_RDSSPQ>,
        may_keep_destination},
    Row{{"lar, lsl, smsw, sldt, str", "may keep the destination, or all but 16 bits"},
        is<ZYDIS_MNEMONIC_LAR, ZYDIS_MNEMONIC_LSL, ZYDIS_MNEMONIC_SMSW, ZYDIS_MNEMONIC_SLDT, ZYDIS_MNEMONIC_STR>,
        may_keep_destination},
    Row{{"cmps, scas, lods", "write their pointers, which Zydis does not list"},
        [](const Known& known) { return is_string(known) && !repeats(known); },
        [](Instruction& e, const Known&) { e.overwritten |= e.touched & kPointers; }},
    Row{{"rep", "writes nothing if rcx is 0"}, repeats, may_keep_destination},
    Row{{"shifts by a constant", "write flags for certain, and it is known which"},
        [](const Known& known) { return shifts_by_immediate(known) && certainly_shifts(known); },
        [](Instruction& e, const Known& known) {
            const bool rotates = is<ZYDIS_MNEMONIC_ROL, ZYDIS_MNEMONIC_ROR>(known);
            e.flags_read = 0;
            e.flags_overwritten = rotates ? kCf : kResult;
        }},
    Row{{"shifts by 0", "leave all flags; by more than the width, CF is undefined"},
        [](const Known& known) { return shifts_by_immediate(known) && !certainly_shifts(known); },
        [](Instruction& e, const Known&) {
            e.flags_read = kStatusFlags;
            e.flags_overwritten = 0;
        }},
    Row{{"shld, shrd by cl", "leave all flags if cl is 0; Zydis lists them as written"},
        [](const Known& known) {
            return is<ZYDIS_MNEMONIC_SHLD, ZYDIS_MNEMONIC_SHRD>(known) && known.instruction.raw.imm[0].size == 0;
        },
        [](Instruction& e, const Known&) {
            e.flags_read = kStatusFlags;
            e.flags_overwritten = 0;
        }},
    Row{{"pause with REX.B", "still exchanges rax and r8 (run on Zen 4)"},
        [](const Known& known) { return is<ZYDIS_MNEMONIC_PAUSE>(known) && known.instruction.raw.rex.B; },
        [](Instruction& e, const Known& known) {
            e.touched = e.read = kRaxAndR8;
            e.overwritten = e.operand16 && !known.instruction.raw.rex.W ? 0 : kRaxAndR8;
        }},
    Row{{"SIB without a base, with 67 and REX.B", "mod 0 with base 101 is disp32 whatever B is; Zydis reports r13d"},
        has_false_base,
        [](Instruction&, const Known&) {}},
    Row{{"mov moffs with 67", "has a zero-extended address; Zydis sign-extends it"},
        [](const Known& known) {
            return !(known.instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM) && known.instruction.raw.disp.size == 32;
        },
        [](Instruction& e, const Known&) { e.displacement &= 0xffffffff; }},
    Row{{"instructions that fault in user mode", "show every register in the signal frame"},
        faults_in_user_mode,
        all_visible},
    Row{{"far branches", "let other code see every register"}, is_far, all_visible},
    Row{{"syscall", "lets the kernel see every register, and replaces rcx and r11"},
        is<ZYDIS_MNEMONIC_SYSCALL>,
        [](Instruction& e, const Known& known) {
            all_visible(e, known);
            e.overwritten = kRcxAndR11;
        }},
};

std::array<std::uint64_t, kRows.size()> uses{};

constexpr auto kDifferences = [] {
    std::array<Difference, kRows.size()> all;
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = kRows[n].difference;
    return all;
}();

}  // namespace

std::span<const Difference> differences() {
    return kDifferences;
}

std::span<const std::uint64_t> difference_uses() {
    return uses;
}

bool is_knights_corner(const ZydisDecodedInstruction& instruction) {
    return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX || instruction.meta.isa_ext == ZYDIS_ISA_EXT_KNC ||
           instruction.meta.isa_ext == ZYDIS_ISA_EXT_KNCE || instruction.meta.isa_ext == ZYDIS_ISA_EXT_KNCV;
}

bool names_base(const Known& known) {
    return !has_false_base(known);
}

void amend(Instruction& expected, const Known& known) {
    for (std::size_t n = 0; n < kRows.size(); ++n)
        if (kRows[n].applies(known)) {
            kRows[n].amend(expected, known);
            ++uses[n];
        }
}

}  // namespace anyperf::engine::x86_64
