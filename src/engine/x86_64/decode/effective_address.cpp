// effective_address.cpp: SDM volume 2, 2.1.5 "Addressing-Mode Encoding of ModR/M and SIB Bytes"; 2.2.1.2 for REX.
//
// It has to agree with the CPU for every addressing form, because watched memory and samples are exact: with a wrong
// address the thread would miss a watchpoint. For the models, translate/record_accesses.cpp derives the same addresses
// from recorded registers.
#include "engine/x86_64/decode/effective_address.h"

namespace anyperf::engine::x86_64 {

// Only an operand whose SIB base is rsp (4, without REX.B) depends on it. pop [rip + n] and pop of a register have no
// SIB byte.
std::int32_t popped_bytes(const Instruction& instruction, const std::uint8_t* code) {
    constexpr std::uint8_t kPop = 0x8f;
    const bool pops = instruction.map == 0 && instruction.opcode == kPop && !instruction.has_vex;
    const bool extended = instruction.has_rex && (code[instruction.rex_offset] & 1) != 0;
    if (!pops || instruction.sib_offset == 0 || (code[instruction.sib_offset] & 7) != rsp || extended) return 0;
    return instruction.operand16 ? 2 : 8;
}

namespace {

constexpr std::uint8_t kShortVex = 0xc5;
constexpr unsigned kNoIndex = 4;  // SIB.index with X clear: no index register
constexpr unsigned kNoBase = 5;   // SIB.base with mod 0: no base register

/// The fourth bit of base and index, from B and X.
struct Extension {
    unsigned base = 0;
    unsigned index = 0;
};

Extension extension_of(const Instruction& instruction, const std::uint8_t* code) {
    std::uint8_t bits = 0;
    if (instruction.has_rex) bits = code[instruction.rex_offset] & 3;
    if (instruction.has_vex && code[instruction.vex_offset] != kShortVex)
        bits = static_cast<std::uint8_t>(((~code[instruction.vex_offset + 1]) >> 5) & 3);
    return {(bits & 1u) << 3, (bits & 2u) << 2};
}

/// The offset that ModRM, SIB and displacement give.
std::uint64_t named_address(const Instruction& instruction, const std::uint8_t* code, const Registers& registers) {
    auto displacement = static_cast<std::uint64_t>(instruction.displacement);
    if (has_compressed_displacement(instruction, code) && instruction.operand_bytes != 0)
        displacement *= instruction.operand_bytes;
    if (instruction.rip_relative) return registers.rip + instruction.length + displacement;
    const std::uint8_t modrm = code[instruction.modrm_offset];
    const Extension extension = extension_of(instruction, code);
    if (instruction.sib_offset == 0) return registers.r[(modrm & 7u) | extension.base] + displacement;
    const std::uint8_t sib = code[instruction.sib_offset];
    const unsigned index = (sib >> 3 & 7u) | extension.index;
    std::uint64_t address = displacement + static_cast<std::uint64_t>(popped_bytes(instruction, code));
    if (index != kNoIndex) address += registers.r[index] << (sib >> 6);
    if ((sib & 7u) != kNoBase || (modrm >> 6) != 0) address += registers.r[(sib & 7u) | extension.base];
    return address;
}

bool names_memory(const Instruction& instruction, const std::uint8_t* code) {
    return instruction.modrm_offset != 0 && (code[instruction.modrm_offset] & 0xc0) != 0xc0;
}

/// The accesses of a string instruction, by opcode of the one-byte map (SDM volume 1, 7.3.9).
struct ImpliedRow {
    std::uint8_t opcode;
    bool reads_source, reads_target, writes_target;
};
constexpr ImpliedRow kStrings[] = {
    {0xa4, true, false, true},  {0xa5, true, false, true},   // movs
    {0xa6, true, true, false},  {0xa7, true, true, false},   // cmps
    {0xaa, false, false, true}, {0xab, false, false, true},  // stos
    {0xac, true, false, false}, {0xad, true, false, false},  // lods
    {0xae, false, true, false}, {0xaf, false, true, false},  // scas
};

const ImpliedRow* string_row(const Instruction& instruction) {
    if (instruction.map != 0 || instruction.has_vex) return nullptr;
    for (const ImpliedRow& row : kStrings)
        if (row.opcode == instruction.opcode) return &row;
    return nullptr;
}

/// The linear address for an offset: truncated by a 67 prefix, plus the segment base. `segmented`: whether a segment
/// prefix has an effect on this access.
std::uint64_t placed(const Instruction& instruction, std::uint64_t address, bool segmented, const SegmentBases& bases) {
    if (instruction.address32) address &= 0xffffffffu;
    if (segmented && instruction.segment == Segment::fs) address += bases.fs;
    if (segmented && instruction.segment == Segment::gs) address += bases.gs;
    return address;
}

void add(Accesses& all, const Access& access) {
    if (access.reads || access.writes) all.of[all.count++] = access;
}

void add_string(Accesses& all, const ImpliedRow& row, const Instruction& instruction, const Registers& registers,
                const SegmentBases& bases) {
    constexpr std::uint64_t kDirection = 0x400;
    const std::uint32_t bytes = instruction.implied_bytes;
    // The step is negative if DF is set. The two accesses of movs and cmps advance together.
    const auto step = static_cast<std::int32_t>((registers.flags & kDirection) != 0 ? -bytes : bytes);
    all.repeats = instruction.rep;
    add(all, {placed(instruction, registers.r[rsi], true, bases), bytes, row.reads_source, false, step});
    add(all, {placed(instruction, registers.r[rdi], false, bases), bytes, row.reads_target, row.writes_target, step});
}

/// Implied accesses other than strings: the stack, xlat's table, the destination of maskmov (rdi) and of movdir64b (the
/// register in ModRM.reg).
void add_implied(Accesses& all, const Instruction& instruction, const std::uint8_t* code, const Registers& registers,
                 const SegmentBases& bases) {
    constexpr std::uint8_t kLeave = 0xc9;
    constexpr std::uint8_t kXlat = 0xd7;
    const std::uint32_t bytes = instruction.implied_bytes;
    const bool reads = instruction.reads_memory && !instruction.reads_operand;
    const bool writes = instruction.writes_memory && !instruction.writes_operand;
    const auto& r = registers.r;
    const bool one_byte = instruction.map == 0 && !instruction.has_vex;
    if (one_byte && instruction.opcode == kLeave) return add(all, {r[rbp], bytes, true, false, 0});
    if (one_byte && instruction.opcode == kXlat)
        return add(all, {placed(instruction, r[rbx] + (r[rax] & 0xff), true, bases), bytes, true, false, 0});
    if ((instruction.read >> rsp & 1) != 0 && (reads || writes))
        return add(all, {writes ? r[rsp] - bytes : r[rsp], bytes, reads, writes, 0});
    if (!writes) return;
    const bool by_register = instruction.reads_operand;  // movdir64b: the register that ModRM names
    const unsigned extended = instruction.has_rex ? code[instruction.rex_offset] << 1 & 8u : 0;
    const unsigned to = by_register ? (code[instruction.modrm_offset] >> 3 & 7u) | extended : unsigned{rdi};
    // The destination of movdir64b is in es, whatever the prefix says (SDM volume 2, MOVDIR64B).
    add(all, {placed(instruction, r[to], !by_register, bases), bytes, reads, writes, 0});
}

}  // namespace

Accesses accesses_of(const Instruction& instruction, const std::uint8_t* code, const Registers& registers,
                     const SegmentBases& bases) {
    Accesses all;
    if (const ImpliedRow* const row = string_row(instruction)) {
        add_string(all, *row, instruction, registers, bases);
        return all;
    }
    if (instruction.reads_operand || instruction.writes_operand) {
        const std::uint64_t address = names_memory(instruction, code)
                                          ? named_address(instruction, code, registers)
                                          : static_cast<std::uint64_t>(instruction.displacement);
        // The size of an xsave area depends on the state that is enabled, but the legacy area and the header are always
        // there (SDM volume 1, 13.4).
        constexpr std::uint32_t kSmallestSaveArea = 576;
        const std::uint32_t default_bytes = instruction.control == Control::x87_state ? kSmallestSaveArea : 0;
        const std::uint32_t bytes = instruction.operand_bytes != 0 ? instruction.operand_bytes : default_bytes;
        add(all, {placed(instruction, address, true, bases), bytes, instruction.reads_operand,
                  instruction.writes_operand, 0});
    }
    if (instruction.implied_bytes != 0) add_implied(all, instruction, code, registers, bases);
    return all;
}

}  // namespace anyperf::engine::x86_64
