// effective_address.cpp: see effective_address.h. SDM volume 2, 2.1.5 "Addressing-Mode Encoding of ModR/M and SIB
// Bytes" and 2.2.1.2 for REX.
#include "engine/x86_64/effective_address.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::uint8_t kShortVex = 0xc5;
constexpr unsigned kNoIndex = 4;  // in SIB, with X 0
constexpr unsigned kNoBase = 5;   // with mod 0

/// B and X, that make register numbers of four bits.
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

std::uint64_t named_address(const Instruction& instruction, const std::uint8_t* code, const Registers& registers) {
    const auto displacement = static_cast<std::uint64_t>(instruction.displacement);
    if (instruction.rip_relative) return registers.rip + instruction.length + displacement;
    const std::uint8_t modrm = code[instruction.modrm_offset];
    const Extension extension = extension_of(instruction, code);
    if (instruction.sib_offset == 0) return registers.r[(modrm & 7u) | extension.base] + displacement;
    const std::uint8_t sib = code[instruction.sib_offset];
    const unsigned index = (sib >> 3 & 7u) | extension.index;
    std::uint64_t address = displacement;
    if (index != kNoIndex) address += registers.r[index] << (sib >> 6);
    if ((sib & 7u) != kNoBase || (modrm >> 6) != 0) address += registers.r[(sib & 7u) | extension.base];
    return address;
}

bool names_memory(const Instruction& instruction, const std::uint8_t* code) {
    return instruction.modrm_offset != 0 && (code[instruction.modrm_offset] & 0xc0) != 0xc0;
}

/// Of an instruction without a memory operand of its own: the stack, or what a string instruction walks.
std::uint64_t implied_address(const Instruction& instruction, const Registers& registers) {
    const bool string_source = (instruction.read >> rsi & 1) != 0 && instruction.reads_memory;
    const bool string_target = (instruction.read >> rdi & 1) != 0;
    if (string_source) return registers.r[rsi];
    if (string_target && (instruction.touched >> rsp & 1) == 0) return registers.r[rdi];
    if ((instruction.touched >> rsp & 1) == 0) return 0;
    constexpr std::uint64_t kWord = 8;
    return instruction.writes_memory ? registers.r[rsp] - kWord : registers.r[rsp];
}

}  // namespace

std::uint64_t accessed_address(const Instruction& instruction, const std::uint8_t* code, const Registers& registers,
                               const SegmentBases& bases) {
    if (!instruction.reads_memory && !instruction.writes_memory) return 0;
    std::uint64_t address = 0;
    if (instruction.displacement_bytes == 8)
        address = static_cast<std::uint64_t>(instruction.displacement);
    else if (names_memory(instruction, code))
        address = named_address(instruction, code, registers);
    else
        address = implied_address(instruction, registers);
    if (instruction.address32) address &= 0xffffffffu;
    if (instruction.segment == Segment::fs) address += bases.fs;
    if (instruction.segment == Segment::gs) address += bases.gs;
    return address;
}

}  // namespace anyperf::engine::x86_64
