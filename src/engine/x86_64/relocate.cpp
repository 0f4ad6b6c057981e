// relocate.cpp: instructions that are copied, and those whose memory operand has to be said differently: rip-relative
// ones, because the copy stands elsewhere, and %gs ones, because %gs is the engine's.
#include <initializer_list>

#include "engine/x86_64/landing.h"
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

/// A register that the instruction does not touch, among those that need no REX bit.
Register free_register(RegisterSet touched, RegisterSet without = 0) {
    for (const Register reg : {rax, rcx, rdx, rbx, rsi, rdi})
        if (((touched | without) >> reg & 1) == 0) return reg;
    return rsp;  // none: no instruction with a memory operand touches six of them
}

constexpr std::uint8_t kGsPrefix = 0x65;
constexpr std::uint8_t kAddressPrefix = 0x67;
constexpr std::uint8_t kShortVex = 0xc5;  // has neither X nor B

/// A REX among the legacy prefixes has no effect, until what stands between it and the opcode is left out.
constexpr bool is_void_rex(std::uint8_t prefix) {
    return (prefix & 0xf0) == 0x40;
}

/// Bytes before REX, VEX, the escapes or the opcode.
std::size_t legacy_prefixes(const Instruction& instruction) {
    if (instruction.has_rex) return instruction.rex_offset;
    if (instruction.has_vex) return instruction.vex_offset;
    constexpr std::size_t kEscapes[] = {0, 1, 2, 2};
    return instruction.opcode_offset - kEscapes[instruction.map & 3];
}

constexpr std::uint8_t nibbles(Register first, Register second = rsp) {
    return static_cast<std::uint8_t>(first | second << 4);
}

}  // namespace

void Translation::emit_plain(const Instruction& instruction, std::uint64_t address) {
    const std::uint8_t* const code = bytes_at(address);
    const bool through_gs = instruction.segment == Segment::gs;
    if (through_gs && instruction.modrm_offset == 0)
        emit_gs_implied(instruction, code);
    else if (through_gs)
        emit_gs_operand(instruction, address);
    else if (instruction.rip_relative)
        emit_rip_relative(instruction, address);
    else
        hot_.bytes(code, instruction.length);
}

void Translation::emit_rip_relative(const Instruction& instruction, std::uint64_t address) {
    const std::uint8_t* const code = bytes_at(address);
    std::uint64_t operand = operand_address(instruction, address);
    if (instruction.address32) operand &= 0xffffffffu;
    if (!instruction.address32 && arena_.reaches(operand)) return emit_near(instruction, code, operand);
    const Register base = free_register(instruction.touched);
    spill(base);
    spilled_ = nibbles(base);
    hot_.mov(base, operand);
    emit_with_operand_in(instruction, code, base);
    unspill(base);
}

void Translation::emit_near(const Instruction& instruction, const std::uint8_t* code, std::uint64_t operand) {
    const std::uint64_t end = address_of(hot_.at()) + instruction.length;
    hot_.bytes(code, instruction.displacement_offset);
    hot_.u32(static_cast<std::uint32_t>(operand - end));
    hot_.bytes(code + instruction.displacement_offset + 4, instruction.length - instruction.displacement_offset - 4u);
}

void Translation::emit_with_operand_in(const Instruction& instruction, const std::uint8_t* code, Register base) {
    // The same instruction with [base] as its operand: no segment, the full width of addresses, and without the bit
    // that extends rm, because base needs none.
    const std::size_t prefixes = legacy_prefixes(instruction);
    for (std::size_t i = 0; i < prefixes; ++i)
        if (code[i] != kGsPrefix && code[i] != kAddressPrefix && !is_void_rex(code[i])) hot_.byte(code[i]);
    for (std::size_t i = prefixes; i < instruction.modrm_offset; ++i) {
        const bool is_rex = instruction.has_rex && i == instruction.rex_offset;
        const bool is_long_vex = instruction.has_vex && i == instruction.vex_offset + 1u && code[i - 1] != kShortVex;
        if (is_rex)
            hot_.byte(code[i] & 0xfe);
        else
            hot_.byte(is_long_vex ? code[i] | 0x60 : code[i]);  // X and B of VEX, EVEX and XOP are stored inverted
    }
    hot_.byte(static_cast<std::uint8_t>((code[instruction.modrm_offset] & 0x38) | base));
    const std::size_t rest =
        instruction.displacement_offset != 0
            ? instruction.displacement_offset + instruction.displacement_bytes
            : (instruction.sib_offset != 0 ? instruction.sib_offset : instruction.modrm_offset) + 1u;
    hot_.bytes(code + rest, instruction.length - rest);
}

void Translation::emit_gs_operand(const Instruction& instruction, std::uint64_t address) {
    const Register base = free_register(instruction.touched);
    const Register sum = free_register(instruction.touched, static_cast<RegisterSet>(1u << base));
    spill(base);
    spill(sum);
    spilled_ = nibbles(base, sum);
    load_effective_address(instruction, address, base);
    hot_.load_gs(sum, offsetof(Thread, gs_base));
    hot_.lea_sum(base, base, sum);
    emit_with_operand_in(instruction, bytes_at(address), base);
    unspill(sum);
    unspill(base);
}

void Translation::emit_gs_implied(const Instruction& instruction, const std::uint8_t* code) {
    if (instruction.displacement_bytes == 8) return emit_gs_absolute(instruction, code);
    // String instructions read at rsi: it is moved by the base meanwhile.
    const Register base = free_register(instruction.touched);
    spill(base);
    spilled_ = nibbles(base);
    hot_.load_gs(base, offsetof(Thread, gs_base));
    hot_.lea_sum(rsi, rsi, base);
    for (std::size_t i = 0; i < instruction.length; ++i)
        if (code[i] != kGsPrefix) hot_.byte(code[i]);
    hot_.load_gs(base, offsetof(Thread, minus_gs_base));
    hot_.lea_sum(rsi, rsi, base);
    unspill(base);
}

void Translation::emit_gs_absolute(const Instruction& instruction, const std::uint8_t* code) {
    // mov between al/ax/eax/rax and gs:[moffs]: A0 to A3 are 8A, 8B, 88, 89 of a ModRM operand.
    constexpr std::uint8_t kModrmForm[] = {0x8a, 0x8b, 0x88, 0x89};
    spill(rcx);
    spill(rdx);
    spilled_ = nibbles(rcx, rdx);
    hot_.mov(rcx, static_cast<std::uint64_t>(instruction.displacement));
    hot_.load_gs(rdx, offsetof(Thread, gs_base));
    hot_.lea_sum(rcx, rcx, rdx);
    for (std::size_t i = 0; i < instruction.opcode_offset; ++i)
        if (code[i] != kGsPrefix && code[i] != kAddressPrefix) hot_.byte(code[i]);
    hot_.byte(kModrmForm[instruction.opcode & 3]);
    hot_.byte(rcx);
    unspill(rdx);
    unspill(rcx);
}

void Translation::load_effective_address(const Instruction& instruction, std::uint64_t address, Register to) {
    if (instruction.rip_relative) {
        hot_.mov(to, operand_address(instruction, address));
        return;
    }
    const std::uint8_t* const code = bytes_at(address);
    // lea with the instruction's own ModRM, SIB and displacement; X and B as its prefix has them.
    std::uint8_t rex = 0x48;
    if (instruction.has_rex) rex |= code[instruction.rex_offset] & 3;
    if (instruction.has_vex && code[instruction.vex_offset] != kShortVex)
        rex |= static_cast<std::uint8_t>(((~code[instruction.vex_offset + 1]) >> 5) & 3);
    if (instruction.address32) hot_.byte(0x67);
    hot_.byte(rex), hot_.byte(0x8d);
    hot_.byte(static_cast<std::uint8_t>((code[instruction.modrm_offset] & 0xc7) | (to << 3)));
    if (instruction.sib_offset != 0) hot_.byte(code[instruction.sib_offset]);
    hot_.bytes(code + instruction.displacement_offset, instruction.displacement_bytes);
}

void Translation::load_operand(const Instruction& instruction, std::uint64_t address, Register to) {
    // The target of an indirect jump or call. `to` is spilled; as a base or index it still has the application's value.
    const std::uint8_t* const code = bytes_at(address);
    const std::uint8_t modrm = code[instruction.modrm_offset];
    if ((modrm & 0xc0) == 0xc0) {
        const bool extended = instruction.has_rex && (code[instruction.rex_offset] & 1) != 0;
        const auto from = static_cast<Register>((modrm & 7) | (extended ? 8 : 0));
        if (from != to) hot_.mov(to, from);
        return;
    }
    if (instruction.segment == Segment::gs) {
        load_effective_address(instruction, address, to);
        hot_.load_gs(kOther, offsetof(Thread, gs_base));
        hot_.lea_sum(to, to, kOther);
    } else if (instruction.rip_relative && !arena_.reaches(operand_address(instruction, address))) {
        hot_.mov(to, operand_address(instruction, address));
    } else {
        emit_operand_load(instruction, address, to);
        return;
    }
    hot_.byte(0x48), hot_.byte(0x8b), hot_.byte(static_cast<std::uint8_t>(to << 3 | to));  // mov to, [to]
}

void Translation::emit_operand_load(const Instruction& instruction, std::uint64_t address, Register to) {
    const std::uint8_t* const code = bytes_at(address);
    if (instruction.segment == Segment::fs) hot_.byte(0x64);
    if (instruction.address32) hot_.byte(0x67);
    hot_.byte(static_cast<std::uint8_t>(0x48 | (instruction.has_rex ? code[instruction.rex_offset] & 3 : 0))),
        hot_.byte(0x8b);
    hot_.byte(static_cast<std::uint8_t>((code[instruction.modrm_offset] & 0xc7) | (to << 3)));
    if (instruction.sib_offset != 0) hot_.byte(code[instruction.sib_offset]);
    if (instruction.rip_relative) {
        const std::uint64_t end = address_of(hot_.at()) + 4;
        hot_.u32(static_cast<std::uint32_t>(operand_address(instruction, address) - end));
    } else {
        hot_.bytes(code + instruction.displacement_offset, instruction.displacement_bytes);
    }
}

}  // namespace anyperf::engine::x86_64
