#include "engine/streams/instructions.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "engine/streams/blob.h"

namespace anyperf::engine_test {

namespace {

std::uint32_t below(Random& random, std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
}

bool chance(Random& random, std::uint32_t percent) {
    return below(random, 100) < percent;
}

std::uint8_t byte(Random& random) {
    return static_cast<std::uint8_t>(random());
}

void append32(Bytes& out, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

/// Whether the streams use this instruction-set extension and the CPU has it.
bool is_usable(ZydisISAExt extension) {
    switch (extension) {
        case ZYDIS_ISA_EXT_BASE:
        case ZYDIS_ISA_EXT_X87:
        case ZYDIS_ISA_EXT_MMX:
        case ZYDIS_ISA_EXT_SSE:
        case ZYDIS_ISA_EXT_SSE2:
        case ZYDIS_ISA_EXT_LONGMODE: return true;
        case ZYDIS_ISA_EXT_SSE3: return __builtin_cpu_supports("sse3");
        case ZYDIS_ISA_EXT_SSSE3: return __builtin_cpu_supports("ssse3");
        case ZYDIS_ISA_EXT_SSE4: return __builtin_cpu_supports("sse4.2");
        case ZYDIS_ISA_EXT_AVX: return __builtin_cpu_supports("avx");
        case ZYDIS_ISA_EXT_AVX2: return __builtin_cpu_supports("avx2");
        case ZYDIS_ISA_EXT_FMA: return __builtin_cpu_supports("fma");
        case ZYDIS_ISA_EXT_F16C: return __builtin_cpu_supports("f16c");
        case ZYDIS_ISA_EXT_BMI1: return __builtin_cpu_supports("bmi");
        case ZYDIS_ISA_EXT_BMI2: return __builtin_cpu_supports("bmi2");
        case ZYDIS_ISA_EXT_ADOX_ADCX: return __builtin_cpu_supports("adx");
        case ZYDIS_ISA_EXT_MOVBE: return __builtin_cpu_supports("movbe");
        case ZYDIS_ISA_EXT_LZCNT: return __builtin_cpu_supports("lzcnt");
        case ZYDIS_ISA_EXT_AES: return __builtin_cpu_supports("aes");
        case ZYDIS_ISA_EXT_PCLMULQDQ: return __builtin_cpu_supports("pclmul");
        default: return false;
    }
}

/// Categories that can't be in a stream: control flow, system instructions, gathers, segment registers and bases.
bool is_unfit_category(ZydisInstructionCategory category) {
    switch (category) {
        case ZYDIS_CATEGORY_CALL:
        case ZYDIS_CATEGORY_RET:
        case ZYDIS_CATEGORY_COND_BR:
        case ZYDIS_CATEGORY_UNCOND_BR:
        case ZYDIS_CATEGORY_INTERRUPT:
        case ZYDIS_CATEGORY_IO:
        case ZYDIS_CATEGORY_IOSTRINGOP:
        case ZYDIS_CATEGORY_SYSCALL:
        case ZYDIS_CATEGORY_SYSRET:
        case ZYDIS_CATEGORY_SYSTEM:
        case ZYDIS_CATEGORY_SEGOP:
        case ZYDIS_CATEGORY_AVX2GATHER:
        case ZYDIS_CATEGORY_GATHER:
        case ZYDIS_CATEGORY_RDWRFSGS: return true;
        default: return false;
    }
}

/// Instructions that can't be in a stream: results that differ from run to run, changes of control words or modes,
/// implicit memory operands outside the data.
constexpr std::array kUnfit{
    ZYDIS_MNEMONIC_CPUID,    ZYDIS_MNEMONIC_RDTSC,      ZYDIS_MNEMONIC_RDTSCP,      ZYDIS_MNEMONIC_RDPMC,
    ZYDIS_MNEMONIC_HLT,      ZYDIS_MNEMONIC_POPF,       ZYDIS_MNEMONIC_POPFQ,       ZYDIS_MNEMONIC_ENTER,
    ZYDIS_MNEMONIC_LEAVE,    ZYDIS_MNEMONIC_FLDCW,      ZYDIS_MNEMONIC_FLDENV,      ZYDIS_MNEMONIC_FNSTENV,
    ZYDIS_MNEMONIC_FNSAVE,   ZYDIS_MNEMONIC_FRSTOR,     ZYDIS_MNEMONIC_LDMXCSR,     ZYDIS_MNEMONIC_VLDMXCSR,
    ZYDIS_MNEMONIC_MASKMOVQ, ZYDIS_MNEMONIC_MASKMOVDQU, ZYDIS_MNEMONIC_VMASKMOVDQU, ZYDIS_MNEMONIC_UD0,
    ZYDIS_MNEMONIC_UD1,      ZYDIS_MNEMONIC_UD2,        ZYDIS_MNEMONIC_MONITOR,     ZYDIS_MNEMONIC_MWAIT,
    ZYDIS_MNEMONIC_XLAT,     ZYDIS_MNEMONIC_CLI,        ZYDIS_MNEMONIC_STI,         ZYDIS_MNEMONIC_INVD,
    ZYDIS_MNEMONIC_WBINVD,   ZYDIS_MNEMONIC_CLTS,       ZYDIS_MNEMONIC_PUSHF,       ZYDIS_MNEMONIC_PUSHFQ,
    ZYDIS_MNEMONIC_SMSW,     ZYDIS_MNEMONIC_FXTRACT};

/// bt, bts, btr, btc of memory with the bit number in a register: may access half a gigabyte around the operand.
bool is_bit_string(const ZydisDecodedInstruction& instruction, std::span<const ZydisDecodedOperand> operands) {
    switch (instruction.mnemonic) {
        case ZYDIS_MNEMONIC_BT:
        case ZYDIS_MNEMONIC_BTS:
        case ZYDIS_MNEMONIC_BTR:
        case ZYDIS_MNEMONIC_BTC:
            return operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
        default: return false;
    }
}

bool is_reserved_register(ZydisRegister reg) {
    switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
        case ZYDIS_REGISTER_R13:
        case ZYDIS_REGISTER_R14:
        case ZYDIS_REGISTER_RSP: return true;
        default: return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_SEGMENT;
    }
}

bool writes_reserved_register(std::span<const ZydisDecodedOperand> operands) {
    return std::ranges::any_of(operands, [](const ZydisDecodedOperand& operand) {
        return operand.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
               (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && is_reserved_register(operand.reg.value);
    });
}

struct Decoded {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

std::optional<Decoded> decode(const Bytes& bytes) {
    static const ZydisDecoder decoder = [] {
        ZydisDecoder fresh;
        ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return fresh;
    }();
    Decoded out;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &out.instruction, out.operands.data())))
        return std::nullopt;
    return out;
}

bool is_fit(const Decoded& decoded) {
    const auto& instruction = decoded.instruction;
    const std::span operands(decoded.operands.data(), instruction.operand_count);
    return is_usable(instruction.meta.isa_ext) && !is_unfit_category(instruction.meta.category) &&
           !(instruction.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) &&
           std::ranges::find(kUnfit, instruction.mnemonic) == kUnfit.end() && !is_bit_string(instruction, operands) &&
           !writes_reserved_register(operands);
}

/// Position of the B bit of REX or VEX, which turns register 0-7 in ModRM.rm into 8-15.
struct BaseBit {
    std::size_t at = 0;
    std::uint8_t mask = 0;
};

/// Random legacy prefixes, REX or VEX, escape bytes and opcode. B is set, so that rm 6 is r14; X is clear.
Bytes random_opcode(Random& random, BaseBit& base) {
    Bytes out;
    const std::uint32_t kind = below(random, 100);
    if (kind < 25) {  // VEX
        const std::uint8_t map = static_cast<std::uint8_t>(1 + below(random, 3));
        out = {0xc4, static_cast<std::uint8_t>((byte(random) & 0x80) | 0x40 | map), byte(random), byte(random)};
        base = {1, 0x20};  // B is inverted in VEX
        return out;
    }
    constexpr std::array<std::uint8_t, 4> kMandatory{0x66, 0xf2, 0xf3, 0x66};
    if (chance(random, 35)) out.push_back(kMandatory[below(random, 4)]);
    if (chance(random, 4)) out.push_back(0x66);
    if (chance(random, 3)) out.push_back(0x67);
    if (chance(random, 3)) out.push_back(chance(random, 50) ? 0x64 : 0x2e);
    base = {out.size(), 0x01};
    out.push_back(static_cast<std::uint8_t>(0x41 | (byte(random) & 0x0c)));  // REX with B, without X
    if (kind < 60) {
        out.push_back(byte(random));
    } else {
        out.push_back(0x0f);
        if (kind >= 80) out.push_back(chance(random, 50) ? 0x38 : 0x3a);
        out.push_back(byte(random));
    }
    return out;
}

/// A random displacement below `reach` in size; in four of five cases a multiple of 64, aligned for any vector.
std::int32_t displacement(Random& random, std::int32_t reach) {
    const auto any = static_cast<std::int32_t>(below(random, static_cast<std::uint32_t>(2 * reach))) - reach;
    return chance(random, 80) ? any & ~63 : any;
}

/// Appends ModRM, SIB and displacement: a register, [r14 + displacement] in each encoding, or a rip-relative operand
/// whose displacement point_into_data() sets later.
void append_operand(Bytes& out, Random& random, BaseBit base) {
    const std::uint8_t reg = byte(random) & 0x38;
    switch (below(random, 8)) {
        case 0:
            out.insert(out.end(),
                       {static_cast<std::uint8_t>(0x46 | reg), static_cast<std::uint8_t>(displacement(random, 128))});
            return;
        case 1: out.push_back(0x86 | reg); return append32(out, static_cast<std::uint32_t>(displacement(random, 2000)));
        case 2:
            out.insert(out.end(), {static_cast<std::uint8_t>(0x84 | reg), 0x26});  // SIB: r14, no index
            return append32(out, static_cast<std::uint32_t>(displacement(random, 2000)));
        case 3: out.push_back(0x05 | reg); return append32(out, 0);
        default:
            if (chance(random, 50)) out[base.at] ^= base.mask;
            out.push_back(0xc0 | reg | (byte(random) & 7));
            return;
    }
}

/// Sets the displacement of a rip-relative operand so that it points into the streams' data.
void point_into_data(Bytes& bytes, const ZydisDecodedInstruction& instruction, std::uint64_t address, Random& random) {
    const std::uint64_t target = kDataAt + kDataRoom / 2 + static_cast<std::uint64_t>(displacement(random, 2000));
    const auto distance = static_cast<std::uint32_t>(target - (address + instruction.length));
    for (unsigned i = 0; i < 4; ++i)
        bytes[instruction.raw.disp.offset + i] = static_cast<std::uint8_t>(distance >> 8 * i);
}

bool is_rip_relative(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP);
}

/// Whether a memory operand may be outside the data: neither relative to rip nor near r14 or rsp. These are moffs,
/// implicit base registers, an index, a large displacement.
bool may_be_outside_data(const ZydisDecodedOperand& operand) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
        is_rip_relative(operand))
        return false;
    const auto& memory = operand.mem;
    const bool near = memory.disp.value >= -4096 && memory.disp.value < 4096 && memory.index == ZYDIS_REGISTER_NONE;
    return !near || (memory.base != ZYDIS_REGISTER_R14 && memory.base != ZYDIS_REGISTER_R14D &&
                     memory.base != ZYDIS_REGISTER_RSP);
}

/// mov ecx, n; lea rsi, [r14 + a]; lea rdi, [r14 + b]; then a string instruction.
Bytes string_instruction(Random& random) {
    Bytes out{0xb9};
    append32(out, below(random, 20));
    out.insert(out.end(), {0x49, 0x8d, 0xb6});
    append32(out, static_cast<std::uint32_t>(displacement(random, 1000)));
    out.insert(out.end(), {0x49, 0x8d, 0xbe});
    append32(out, static_cast<std::uint32_t>(displacement(random, 1000)));
    constexpr std::array<std::uint8_t, 10> kOpcodes{0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf};
    if (chance(random, 15)) out.push_back(0x66);
    if (chance(random, 70)) out.push_back(chance(random, 60) ? 0xf3 : 0xf2);
    if (chance(random, 50)) out.push_back(0x48);
    out.push_back(kOpcodes[below(random, 10)]);
    return out;
}

}  // namespace

Bytes random_instruction(Random& random, std::uint64_t address) {
    if (chance(random, 3)) return string_instruction(random);
    for (;;) {
        BaseBit base;
        Bytes bytes = random_opcode(random, base);
        append_operand(bytes, random, base);
        for (int i = 0; i < 8; ++i) bytes.push_back(byte(random));
        const auto decoded = decode(bytes);
        if (!decoded || !is_fit(*decoded)) continue;
        const auto& instruction = decoded->instruction;
        const std::span operands(decoded->operands.data(), instruction.operand_count);
        if (std::ranges::any_of(operands, may_be_outside_data)) continue;
        bytes.resize(instruction.length);
        if (std::ranges::any_of(operands, is_rip_relative)) point_into_data(bytes, instruction, address, random);
        return bytes;
    }
}

}  // namespace anyperf::engine_test
