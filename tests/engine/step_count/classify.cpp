#include "step_count/classify.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <string_view>

namespace anyperf::step_count {

namespace {

using engine::x86_64::bit;

constexpr std::array kConditional{
    ZYDIS_MNEMONIC_JB,    ZYDIS_MNEMONIC_JBE,  ZYDIS_MNEMONIC_JL,    ZYDIS_MNEMONIC_JLE,    ZYDIS_MNEMONIC_JNB,
    ZYDIS_MNEMONIC_JNBE,  ZYDIS_MNEMONIC_JNL,  ZYDIS_MNEMONIC_JNLE,  ZYDIS_MNEMONIC_JNO,    ZYDIS_MNEMONIC_JNP,
    ZYDIS_MNEMONIC_JNS,   ZYDIS_MNEMONIC_JNZ,  ZYDIS_MNEMONIC_JO,    ZYDIS_MNEMONIC_JP,     ZYDIS_MNEMONIC_JS,
    ZYDIS_MNEMONIC_JZ,    ZYDIS_MNEMONIC_LOOP, ZYDIS_MNEMONIC_LOOPE, ZYDIS_MNEMONIC_LOOPNE, ZYDIS_MNEMONIC_JCXZ,
    ZYDIS_MNEMONIC_JECXZ, ZYDIS_MNEMONIC_JRCXZ};

/// Mnemonics of floating-point arithmetic without the prefix v of VEX and the suffix ps, pd, ss, sd, ph or sh. FMA
/// forms are matched by their prefix, kFusedPrefixes.
constexpr std::array<std::string_view, 35> kFloatStems{
    "add",    "sub",      "mul",     "div",   "sqrt",   "min",     "max",     "cmp",      "comi",
    "ucomi",  "rcp",      "rcp14",   "rcp28", "rsqrt",  "rsqrt14", "rsqrt28", "round",    "dp",
    "addsub", "hadd",     "hsub",    "exp2",  "getexp", "getmant", "scalef",  "fixupimm", "range",
    "reduce", "rndscale", "fpclass", "frcz",  "dpbf16", "fmulc",   "fcmulc",  "fcmaddc"};

constexpr std::array<std::string_view, 4> kFusedPrefixes{"fmadd", "fmsub", "fnmadd", "fnmsub"};

constexpr std::array<std::string_view, 6> kFloatSuffixes{"ps", "pd", "ss", "sd", "ph", "sh"};

bool is_float_arithmetic(const ZydisDecodedInstruction& instruction) {
    if (instruction.meta.category == ZYDIS_CATEGORY_STRINGOP)
        return false;  // cmpsd and movsd are string instructions, too
    std::string_view name = ZydisMnemonicGetString(instruction.mnemonic);
    if (name.starts_with('v')) name.remove_prefix(1);
    if (name.starts_with("cvt")) return true;
    const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
    if (name.size() < 4 || std::ranges::none_of(kFloatSuffixes, ends)) return false;
    name.remove_suffix(2);
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    return std::ranges::find(kFloatStems, name) != kFloatStems.end() || std::ranges::any_of(kFusedPrefixes, begins);
}

/// The row of FP_ARITH_INST_RETIRED's unit masks (bit 0 scalar double, bit 1 scalar single, then pairs of 128, 256 and
/// 512 bits) that counts the instruction, as a class. Intel's descriptions of these events list the operations.
ClassSet width_class(const ZydisDecodedInstruction& instruction, std::span<const ZydisDecodedOperand> operands) {
    constexpr std::array<std::string_view, 15> kStems{"add",   "sub",  "mul",     "div",   "min",
                                                      "max",   "sqrt", "addsub",  "hadd",  "hsub",
                                                      "rsqrt", "rcp",  "rsqrt14", "rcp14", "dp"};
    if (instruction.meta.category == ZYDIS_CATEGORY_STRINGOP) return 0;
    std::string_view name = ZydisMnemonicGetString(instruction.mnemonic);
    if (name.starts_with('v')) name.remove_prefix(1);
    if (name.size() < 4) return 0;
    const std::string_view stem = name.substr(0, name.size() - 2);
    const char kind = name[name.size() - 2];
    const char element = name.back();
    if ((kind != 'p' && kind != 's') || (element != 's' && element != 'd')) return 0;
    const auto begins = [&](std::string_view prefix) { return stem.starts_with(prefix); };
    const bool fused = std::ranges::any_of(kFusedPrefixes, begins);
    if (!fused && std::ranges::find(kStems, stem) == kStems.end()) return 0;
    std::size_t row = element == 's' ? 1 : 0;
    if (kind == 'p') row += operands[0].size == 512 ? 6 : operands[0].size == 256 ? 4 : 2;
    const ClassSet twice = fused || stem == "dp" ? engine::x86_64::kCountsTwice : 0;
    return (ClassSet{1} << (static_cast<std::size_t>(Class::scalar_double) + row)) | twice;
}

/// FISTTP is an instruction of the x87 FPU that came with SSE3 (SDM volume 2), and Zydis lists it there.
bool is_x87(const ZydisDecodedInstruction& instruction) {
    return instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87 || instruction.mnemonic == ZYDIS_MNEMONIC_FISTTP;
}

bool is_floating_point(const ZydisDecodedInstruction& instruction) {
    return is_x87(instruction) || is_float_arithmetic(instruction);
}

bool is_vector_register(const ZydisDecodedOperand& operand) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    switch (ZydisRegisterGetClass(operand.reg.value)) {
        case ZYDIS_REGCLASS_MMX:
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
        case ZYDIS_REGCLASS_MASK: return true;
        default: return false;
    }
}

ClassSet memory_classes(const ZydisDecodedInstruction& instruction, std::span<const ZydisDecodedOperand> operands) {
    ClassSet classes = 0;
    for (const auto& operand : operands) {
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || is_address_only(instruction, operand)) continue;
        if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) classes |= bit(Class::loads);
        if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) classes |= bit(Class::stores);
    }
    if ((classes & bit(Class::loads)) != 0 && (classes & bit(Class::stores)) != 0) classes |= bit(Class::updates);
    return classes;
}

bool is_far_branch(const ZydisDecodedInstruction& instruction) {
    switch (instruction.mnemonic) {
        case ZYDIS_MNEMONIC_IRET:
        case ZYDIS_MNEMONIC_IRETD:
        case ZYDIS_MNEMONIC_IRETQ: return true;
        default: return instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    }
}

ClassSet branch_classes(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& target) {
    if (std::ranges::find(kConditional, instruction.mnemonic) != kConditional.end())
        return bit(Class::branches) | bit(Class::conditional);
    if (is_far_branch(instruction)) return bit(Class::branches) | bit(Class::far);
    const ClassSet always = bit(Class::branches) | bit(Class::taken);
    const ClassSet indirect = target.type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? 0 : bit(Class::indirect);
    switch (instruction.mnemonic) {
        case ZYDIS_MNEMONIC_JMP: return always | indirect;
        case ZYDIS_MNEMONIC_CALL: return always | indirect | bit(Class::calls);
        case ZYDIS_MNEMONIC_RET: return always | bit(Class::returns);
        default: return 0;
    }
}

constexpr ZydisInstructionAttributes kRep = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;

Step step_of(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& first, ClassSet classes) {
    if (classes & bit(Class::conditional)) return Step::conditional;
    if (instruction.attributes & kRep) return Step::repeated;
    switch (instruction.mnemonic) {
        case ZYDIS_MNEMONIC_SYSCALL: return Step::syscall;
        case ZYDIS_MNEMONIC_PUSHF:
        case ZYDIS_MNEMONIC_PUSHFQ: return Step::pushes_flags;
        case ZYDIS_MNEMONIC_CPUID: return Step::cpuid;
        case ZYDIS_MNEMONIC_MOV:
            return first.type == ZYDIS_OPERAND_TYPE_REGISTER && first.reg.value == ZYDIS_REGISTER_SS ? Step::loads_ss
                                                                                                     : Step::plain;
        default: return Step::plain;
    }
}

const ZydisDecoder& decoder() {
    static const ZydisDecoder made = [] {
        ZydisDecoder fresh;
        ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return fresh;
    }();
    return made;
}

/// The condition of a jcc, from the flags: SDM volume 2, appendix B.1.4 "Condition test field".
bool flag_condition(int mnemonic, std::uint64_t flags) {
    const bool cf = flags & 0x1, pf = flags & 0x4, zf = flags & 0x40, sf = flags & 0x80, of = flags & 0x800;
    switch (mnemonic) {
        case ZYDIS_MNEMONIC_JB: return cf;
        case ZYDIS_MNEMONIC_JNB: return !cf;
        case ZYDIS_MNEMONIC_JBE: return cf || zf;
        case ZYDIS_MNEMONIC_JNBE: return !cf && !zf;
        case ZYDIS_MNEMONIC_JL: return sf != of;
        case ZYDIS_MNEMONIC_JNL: return sf == of;
        case ZYDIS_MNEMONIC_JLE: return zf || sf != of;
        case ZYDIS_MNEMONIC_JNLE: return !zf && sf == of;
        case ZYDIS_MNEMONIC_JO: return of;
        case ZYDIS_MNEMONIC_JNO: return !of;
        case ZYDIS_MNEMONIC_JP: return pf;
        case ZYDIS_MNEMONIC_JNP: return !pf;
        case ZYDIS_MNEMONIC_JS: return sf;
        case ZYDIS_MNEMONIC_JNS: return !sf;
        case ZYDIS_MNEMONIC_JZ: return zf;
        default: return !zf;
    }
}

}  // namespace

bool is_address_only(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand) {
    if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN || operand.mem.type == ZYDIS_MEMOP_TYPE_MIB) return true;
    switch (instruction.meta.category) {
        case ZYDIS_CATEGORY_NOP:
        case ZYDIS_CATEGORY_WIDENOP:
        case ZYDIS_CATEGORY_PREFETCH:
        case ZYDIS_CATEGORY_PREFETCHWT1:
        case ZYDIS_CATEGORY_CLDEMOTE:
        case ZYDIS_CATEGORY_CLFLUSHOPT:
        case ZYDIS_CATEGORY_CLWB: return true;
        default: return instruction.mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
    }
}

Classified classify(std::span<const std::uint8_t> bytes) {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &instruction, operands.data())))
        return {};
    const std::span all(operands.data(), instruction.operand_count);
    ClassSet classes =
        bit(Class::instructions) | branch_classes(instruction, operands[0]) | memory_classes(instruction, all);
    if (is_floating_point(instruction)) classes |= bit(Class::floating_point) | width_class(instruction, all);
    if (std::ranges::any_of(all.first(instruction.operand_count_visible), is_vector_register))
        classes |= bit(Class::vector);
    if (instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL) classes |= bit(Class::syscalls);
    return {instruction.length, classes, step_of(instruction, operands[0], classes), instruction.mnemonic,
            instruction.address_width};
}

bool is_taken(const Classified& instruction, const user_regs_struct& registers) {
    const std::uint64_t rcx = instruction.address_width == 32 ? registers.rcx & 0xffffffff : registers.rcx;
    const bool zf = registers.eflags & 0x40;
    switch (instruction.mnemonic) {
        case ZYDIS_MNEMONIC_JRCXZ:
        case ZYDIS_MNEMONIC_JECXZ: return rcx == 0;
        case ZYDIS_MNEMONIC_LOOP: return rcx != 1;
        case ZYDIS_MNEMONIC_LOOPE: return rcx != 1 && zf;
        case ZYDIS_MNEMONIC_LOOPNE: return rcx != 1 && !zf;
        default: return flag_condition(instruction.mnemonic, registers.eflags);
    }
}

std::string disassemble(std::span<const std::uint8_t> bytes, std::uint64_t address) {
    ZydisDisassembledInstruction instruction;
    if (!ZYAN_SUCCESS(
            ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, bytes.data(), bytes.size(), &instruction)))
        return "?";
    return instruction.text;
}

}  // namespace anyperf::step_count
