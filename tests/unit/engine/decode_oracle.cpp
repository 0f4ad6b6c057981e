// decode_oracle.cpp: Zydis's answer as an Instruction. The register and flag sets come from Zydis's operands with their
// actual registers, whereas our decoder's tables are generated from fields and roles: two independent ways to the same
// sets.
#include "unit/engine/decode_oracle.h"

#include <fmt/format.h>

#include "unit/engine/decode_differences.h"

namespace anyperf::engine::x86_64 {
namespace {

const ZydisDecoder& decoder() {
    static const ZydisDecoder made = [] {
        ZydisDecoder fresh;
        ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return fresh;
    }();
    return made;
}

RegisterSet register_set(ZydisRegister reg) {
    const auto whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64) return 0;
    return static_cast<RegisterSet>(1u << ZydisRegisterGetId(whole));
}

void place(Instruction& e, const ZydisDecodedInstruction& i) {
    e.length = i.length;
    e.opcode = i.opcode;
    if (i.attributes & ZYDIS_ATTRIB_HAS_MODRM) e.modrm_offset = i.raw.modrm.offset;
    if (i.attributes & ZYDIS_ATTRIB_HAS_SIB) e.sib_offset = i.raw.sib.offset;
    if (i.raw.disp.size) e.displacement_offset = i.raw.disp.offset;
    e.displacement_bytes = i.raw.disp.size / 8;
    e.displacement = i.raw.disp.value;
    e.immediate_bytes = static_cast<std::uint8_t>((i.raw.imm[0].size + i.raw.imm[1].size) / 8);
    if (e.immediate_bytes) e.immediate_offset = i.raw.imm[0].offset;
    e.immediate = i.raw.imm[0].value.u;
    if (i.raw.imm[1].size) e.immediate |= i.raw.imm[1].value.u << i.raw.imm[0].size;
    e.rip_relative =
        (i.attributes & ZYDIS_ATTRIB_HAS_MODRM) && i.raw.modrm.mod == 0 && i.raw.modrm.rm == 5 && i.raw.disp.size == 32;
}

void prefixes(Instruction& e, const ZydisDecodedInstruction& i) {
    for (unsigned n = 0; n < i.raw.prefix_count; ++n) {
        const auto byte = i.raw.prefixes[n].value;
        if (byte == 0x66) e.operand16 = true;
        if (byte == 0x67) e.address32 = true;
    }
    e.lock = i.attributes & ZYDIS_ATTRIB_HAS_LOCK;
    e.rep = i.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    if (i.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS) e.segment = Segment::fs;
    if (i.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS) e.segment = Segment::gs;
    switch (i.encoding) {
        case ZYDIS_INSTRUCTION_ENCODING_VEX: e.vex_offset = i.raw.vex.offset; break;
        case ZYDIS_INSTRUCTION_ENCODING_XOP: e.vex_offset = i.raw.xop.offset; break;
        case ZYDIS_INSTRUCTION_ENCODING_EVEX: e.vex_offset = i.raw.evex.offset; break;
        default:
            e.has_rex = i.attributes & ZYDIS_ATTRIB_HAS_REX;
            if (e.has_rex) e.rex_offset = i.raw.rex.offset;
            return;
    }
    e.has_vex = true;
}

void operand(Instruction& e, const ZydisDecodedOperand& o, bool has_base, ZydisOperandActions& flags_action) {
    const bool reads = o.actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    const bool writes = o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        const auto in_modrm = o.encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
        const RegisterSet base = in_modrm && !has_base ? 0 : register_set(o.mem.base);
        e.touched |= base | register_set(o.mem.index);
        e.read |= base | register_set(o.mem.index);
        if (o.mem.type == ZYDIS_MEMOP_TYPE_AGEN) return;
        e.reads_memory |= reads;
        e.writes_memory |= writes;
        const bool named = in_modrm || (o.encoding >= ZYDIS_OPERAND_ENCODING_DISP8 &&
                                        o.encoding <= ZYDIS_OPERAND_ENCODING_DISP16_32_32);
        if (named) {
            e.reads_operand |= reads;
            e.writes_operand |= writes;
        }
    }
    if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) return;
    if (ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_FLAGS)
        flags_action = static_cast<ZydisOperandActions>(flags_action | o.actions);
    const RegisterSet set = register_set(o.reg.value);
    const bool whole = o.actions & ZYDIS_OPERAND_ACTION_WRITE && o.size >= 32;
    e.touched |= set;
    if (reads || (writes && !whole)) e.read |= set;
    if (whole) e.overwritten |= set;
    if (writes) e.written |= set;
}

void flags(Instruction& e, const ZydisDecodedInstruction& i, ZydisOperandActions action) {
    if (!i.cpu_flags) return;
    const unsigned written = (i.cpu_flags->modified | i.cpu_flags->set_0 | i.cpu_flags->set_1) & kStatusFlags;
    const unsigned undefined = i.cpu_flags->undefined & kStatusFlags;
    e.flags_read = static_cast<FlagSet>(i.cpu_flags->tested & kStatusFlags);
    if (action & ZYDIS_OPERAND_ACTION_WRITE)
        e.flags_overwritten = static_cast<FlagSet>(written & ~undefined);
    else
        e.flags_read |= static_cast<FlagSet>(written | undefined);
}

Instruction expectation(const Known& known) {
    Instruction e;
    place(e, known.instruction);
    prefixes(e, known.instruction);
    ZydisOperandActions flags_action = 0;
    for (unsigned n = 0; n < known.instruction.operand_count; ++n)
        operand(e, known.operands[n], names_base(known), flags_action);
    flags(e, known.instruction, flags_action);
    return e;
}

struct Field {
    std::string_view name;
    std::uint64_t (*of)(const Instruction&);
};

#define FIELD(name)                                                                    \
    Field {                                                                            \
        #name, [](const Instruction& i) { return static_cast<std::uint64_t>(i.name); } \
    }
constexpr std::array kFields{
    FIELD(length),
    FIELD(opcode_offset),
    FIELD(rex_offset),
    FIELD(has_rex),
    FIELD(vex_offset),
    FIELD(has_vex),
    FIELD(modrm_offset),
    FIELD(sib_offset),
    FIELD(opcode),
    FIELD(displacement),
    FIELD(displacement_offset),
    FIELD(displacement_bytes),
    FIELD(immediate),
    FIELD(segment),
    FIELD(immediate_offset),
    FIELD(immediate_bytes),
    FIELD(rip_relative),
    FIELD(address32),
    FIELD(operand16),
    FIELD(lock),
    FIELD(rep),
    FIELD(reads_operand),
    FIELD(writes_operand),
    FIELD(writes_memory),
    FIELD(reads_memory),
    FIELD(touched),
    FIELD(read),
    FIELD(overwritten),
    FIELD(flags_read),
    FIELD(flags_overwritten),
};
#undef FIELD

std::string field_faults(const Instruction& expected, const Instruction& got) {
    std::string faults;
    // More may be written than Zydis lists: the pointers of repe cmps, and all registers by a system call.
    if ((expected.written & ~got.written) != 0) faults += " a register is missing from written";
    for (const Field& field : kFields)
        if (field.of(expected) != field.of(got))
            faults += fmt::format(" {}: {:#x}, not {:#x};", field.name, field.of(got), field.of(expected));
    return faults;
}

std::string shown(std::span<const std::uint8_t> bytes, const Known* known) {
    std::string text = fmt::format("{:02x}", fmt::join(bytes, " "));
    char buffer[128] = "";
    static const ZydisFormatter formatter = [] {
        ZydisFormatter fresh;
        ZydisFormatterInit(&fresh, ZYDIS_FORMATTER_STYLE_INTEL);
        return fresh;
    }();
    if (known)
        ZydisFormatterFormatInstruction(&formatter, &known->instruction, known->operands.data(),
                                        known->instruction.operand_count_visible, buffer, sizeof buffer, 0, nullptr);
    return text + " (" + buffer + "):";
}

std::string_view name_of(DecodeStatus status) {
    constexpr std::string_view names[] = {"ok", "invalid", "truncated", "too long"};
    return names[static_cast<unsigned>(status)];
}

/// Whether nothing is known of the instruction but its length, so that it must be taken to use every register.
bool is_unknown(const Instruction& got) {
    return got.control == Control::none && got.touched == 0xffff && got.read == 0xffff && got.overwritten == 0 &&
           got.flags_read == kStatusFlags && got.flags_overwritten == 0;
}

/// The faults of our answer where Zydis refuses the bytes. If the bytes are cut off, the two decoders may refuse at
/// different bytes; decode_random_test.cpp tests what is allowed then.
std::string refusal_faults(ZyanStatus zydis, DecodeStatus ours, const Instruction& got, bool whole) {
    if (ours == DecodeStatus::ok) return is_unknown(got) ? "" : " decoded, but unknown to Zydis";
    if (!whole) return "";
    const bool too_long = zydis == ZYDIS_STATUS_INSTRUCTION_TOO_LONG || zydis == ZYDIS_STATUS_NO_MORE_DATA;
    return too_long && ours == DecodeStatus::truncated ? " truncated at 15 bytes" : "";
}

}  // namespace

Comparison compare(std::span<const std::uint8_t> bytes) {
    bytes = bytes.first(std::min<std::size_t>(bytes.size(), ZYDIS_MAX_INSTRUCTION_LENGTH));
    Known known;
    const ZyanStatus zydis =
        ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &known.instruction, known.operands.data());
    Instruction got;
    const DecodeStatus ours = decode(bytes.data(), bytes.size(), got);
    if (!ZYAN_SUCCESS(zydis) || is_knights_corner(known.instruction)) {
        const std::string faults = refusal_faults(zydis, ours, got, bytes.size() == ZYDIS_MAX_INSTRUCTION_LENGTH);
        return {1, false, faults.empty() ? faults : shown(bytes, nullptr) + faults};
    }
    if (ours != DecodeStatus::ok) return {1, false, shown(bytes, &known) + fmt::format(" {}, not ok", name_of(ours))};
    Instruction expected = expectation(known);
    amend(expected, known);
    // Zydis does not report the offset of the opcode: the byte at our offset must be the opcode.
    expected.opcode_offset = bytes[got.opcode_offset] == expected.opcode ? got.opcode_offset : 0;
    const std::string faults = field_faults(expected, got);
    return {known.instruction.length, true,
            faults.empty() ? faults : shown(bytes.first(known.instruction.length), &known) + faults};
}

}  // namespace anyperf::engine::x86_64
