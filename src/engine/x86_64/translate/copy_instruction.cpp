// copy_instruction.cpp: instructions that are executed by the CPU itself. Most are copied byte by byte. Two kinds need
// another form of their memory operand: rip-relative ones, because the copy is at another address, and those with a gs
// prefix, because %gs holds the engine's Thread. Their address is computed into a spilled register, and the instruction
// is written again with that register as its operand. With a gs prefix an implied operand is reached by displacing the
// register that points to it, while the instruction executes.
//
// LIMITS. With a gs and a 67 prefix the address is cut to 32 bits before the displacement or an index that stays in the
// instruction is added (EVEX's disp8*N, gathers), and the upper halves of a string instruction's registers are cleared
// even if it faults at once. movdir64b with a 67 prefix uses all 64 bits of its destination register.
#include <initializer_list>

#include "engine/x86_64/decode/effective_address.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

// Why a spilled register and not the red zone or a push: the application's stack below rsp may be in use (System V ABI,
// 3.2.2), and rsp may be the operand's base. Thread::spill has a slot for each register.

/// A register that the instruction does not use. The first six need no REX bit. cmpxchg8b and cmpxchg16b alone may use
/// all six: four implied ones, and two in the address.
Register free_register(RegisterSet touched, RegisterSet without = 0) {
    for (const Register reg : {rax, rcx, rdx, rbx, rsi, rdi, r8, r9, r10})
        if (((touched | without) >> reg & 1) == 0) return reg;
    return rsp;
}

/// A register that can hold the address of the instruction's operand and needs no REX bit: a free one, or rsi, which is
/// in the address only if no other one is free.
Register address_holder(RegisterSet touched) {
    const Register free = free_register(touched);
    return free < r8 ? free : rsi;
}

constexpr std::uint8_t kGsPrefix = 0x65;
constexpr std::uint8_t kAddressPrefix = 0x67;
constexpr std::uint8_t kShortVex = 0xc5;  // has neither X nor B

/// A REX that other prefixes follow has no effect (SDM volume 2, 2.2.1). It would get one if those were left out, so it
/// is left out, too.
constexpr bool is_void_rex(std::uint8_t prefix) {
    return (prefix & 0xf0) == 0x40;
}

/// The number of bytes before REX, VEX, the escape bytes or the opcode.
std::size_t legacy_prefixes(const Instruction& instruction) {
    if (instruction.has_rex) return instruction.rex_offset;
    if (instruction.has_vex) return instruction.vex_offset;
    constexpr std::size_t kEscapes[] = {0, 1, 2, 2};
    return instruction.opcode_offset - kEscapes[instruction.map & 3];
}

/// Mark::spilled for one register or two.
constexpr std::uint8_t nibbles(Register first, Register second = rsp) {
    return static_cast<std::uint8_t>(first | second << 4);
}

}  // namespace

void Translation::emit_plain(const Instruction& instruction, std::uint64_t address) {
    // If popf sets the trap flag, the CPU traps after the next instruction. That must not be part of the application's
    // next one (engine/trap_flag.h).
    constexpr std::uint8_t kPopFlags = 0x9d;
    if (instruction.map == 0 && instruction.opcode == kPopFlags && !instruction.has_vex) {
        hot_.bytes(bytes_at(address), instruction.length);
        hot_.byte(0x90);
        return;
    }
    if (instruction.segment == Segment::gs)
        emit_gs(instruction, address);
    else if (instruction.rip_relative)
        emit_rip_relative(instruction, address);
    else
        hot_.bytes(bytes_at(address), instruction.length);
}

/// If the operand is within 2 GiB of the arena the copy gets a new displacement; otherwise a spilled register holds its
/// address.
void Translation::emit_rip_relative(const Instruction& instruction, std::uint64_t address) {
    const std::uint8_t* const code = bytes_at(address);
    const std::uint64_t operand = operand_address(instruction, address);
    if (!instruction.address32 && arena_.reaches(operand)) return emit_near(instruction, code, operand);
    // `spilled_` goes into the instruction's mark: if the copy faults, recover.cpp restores these registers first.
    const Register base = free_register(instruction.touched);
    spill(base);
    spilled_ = nibbles(base);
    hot_.mov(base, operand);
    refuse_to_relocate();
    emit_with_operand_in(instruction, code, base);
    unspill(base);
}

/// Copies the instruction with a displacement that leads from the copy to `operand`.
void Translation::emit_near(const Instruction& instruction, const std::uint8_t* code, std::uint64_t operand) {
    // A displacement counts from the end of the instruction, after its immediates.
    const std::uint64_t end = address_of(hot_.at()) + instruction.length;
    hot_.bytes(code, instruction.displacement_offset);
    hot_.u32(static_cast<std::uint32_t>(operand - end));
    relocate(hot_, RelocationKind::to_code, hot_.at() - 4, operand - block_->pc,
             instruction.length - instruction.displacement_offset - 4u);
    hot_.bytes(code + instruction.displacement_offset + 4, instruction.length - instruction.displacement_offset - 4u);
}

/// The prefixes before REX, VEX and opcode, without a segment override, with 64-bit addresses.
void Translation::emit_prefixes(const Instruction& instruction, const std::uint8_t* code) {
    const std::size_t prefixes = legacy_prefixes(instruction);
    for (std::size_t i = 0; i < prefixes; ++i)
        if (code[i] != kGsPrefix && code[i] != kAddressPrefix && !is_void_rex(code[i])) hot_.byte(code[i]);
}

/// Everything before ModRM, for an operand with one of the low eight registers as its base: B is clear, and X, too,
/// unless the index is kept.
void Translation::emit_prefixes_and_opcode(const Instruction& instruction, const std::uint8_t* code, bool keep_index) {
    emit_prefixes(instruction, code);
    const std::uint8_t inverted =
        keep_index ? 0x20 : 0x60;  // B, and X, of VEX, EVEX and XOP, which store them inverted
    for (std::size_t i = legacy_prefixes(instruction); i < instruction.modrm_offset; ++i) {
        const bool is_rex = instruction.has_rex && i == instruction.rex_offset;
        const bool is_long_vex = instruction.has_vex && i == instruction.vex_offset + 1u && code[i - 1] != kShortVex;
        if (is_rex)
            hot_.byte(code[i] & 0xfe);
        else
            hot_.byte(is_long_vex ? code[i] | inverted : code[i]);
    }
}

/// The same instruction with [base] as its operand; `base` is one of the low eight registers. It keeps a displacement
/// that the CPU multiplies.
void Translation::emit_with_operand_in(const Instruction& instruction, const std::uint8_t* code, Register base) {
    constexpr std::uint8_t kWithByte = 0x40;  // ModRM.mod for a displacement of one byte
    const bool displaced = has_compressed_displacement(instruction, code);
    emit_prefixes_and_opcode(instruction, code, false);
    hot_.byte(static_cast<std::uint8_t>((code[instruction.modrm_offset] & 0x38) | base | (displaced ? kWithByte : 0)));
    const std::size_t rest =
        instruction.displacement_offset != 0
            ? instruction.displacement_offset + (displaced ? 0u : instruction.displacement_bytes)
            : (instruction.sib_offset != 0 ? instruction.sib_offset : instruction.modrm_offset) + 1u;
    hot_.bytes(code + rest, instruction.length - rest);
}

namespace {

bool is_string(const Instruction& instruction) {
    constexpr std::uint8_t kXlat = 0xd7;
    return instruction.modrm_offset == 0 && instruction.displacement_bytes == 0 && instruction.opcode != kXlat;
}

/// Whether the index in SIB is more than a part of one address: a vector of indices, or the stride of a tile.
bool has_vector_index(const Instruction& instruction) {
    return instruction.has_vex && instruction.sib_offset != 0 && instruction.operand_bytes == 0;
}

/// The register that holds the address of an implied operand, other than that of a string instruction.
Register implied_pointer(const Instruction& instruction, const std::uint8_t* code) {
    constexpr std::uint8_t kMaskedMove = 0xf7;  // maskmovq, maskmovdqu, vmaskmovdqu
    constexpr std::uint8_t kUmonitor = 0xae;
    if (instruction.modrm_offset == 0) return rbx;  // xlat
    if (instruction.opcode == kMaskedMove) return rdi;
    if (instruction.opcode != kUmonitor) return rax;  // clzero, monitorx
    const unsigned high = instruction.has_rex ? (code[instruction.rex_offset] & 1u) << 3 : 0;
    return static_cast<Register>((code[instruction.modrm_offset] & 7u) | high);
}

}  // namespace

/// An instruction with a gs prefix that matters.
void Translation::emit_gs(const Instruction& instruction, std::uint64_t address) {
    const std::uint8_t* const code = bytes_at(address);
    const bool named = instruction.modrm_offset != 0 && code[instruction.modrm_offset] < 0xc0;
    if (named && has_vector_index(instruction))
        emit_gs_indexed(instruction, code);
    else if (named)
        emit_gs_operand(instruction, address);
    else if (instruction.displacement_bytes != 0)
        emit_gs_absolute(instruction, code);
    else if (is_string(instruction))
        emit_gs_string(instruction, code);
    else
        emit_gs_pointer(instruction, code, implied_pointer(instruction, code));
}

void Translation::emit_gs_operand(const Instruction& instruction, std::uint64_t address) {
    const Register base = address_holder(instruction.touched);
    const Register sum = free_register(instruction.touched, static_cast<RegisterSet>(1u << base));
    spill(base);
    spill(sum);
    spilled_ = nibbles(base, sum);
    load_effective_address(instruction, address, base);
    // pop [rsp + n] computes its address after it has incremented rsp.
    if (const std::int32_t popped = popped_bytes(instruction, bytes_at(address)); popped != 0)
        hot_.lea(base, base, popped);
    hot_.load_gs(sum, offsetof(Thread, gs_base));
    hot_.lea_sum(base, base, sum);
    emit_with_operand_in(instruction, bytes_at(address), base);
    unspill(sum);
    unspill(base);
}

/// A gather, scatter or tile: SIB's index stays, and its base is replaced by the sum of the base and the gs base.
void Translation::emit_gs_indexed(const Instruction& instruction, const std::uint8_t* code) {
    constexpr std::uint8_t kNoBase = 5;  // with ModRM.mod 0: a displacement of four bytes
    const std::uint8_t modrm = code[instruction.modrm_offset];
    const std::uint8_t sib = code[instruction.sib_offset];
    const bool has_base = (sib & 7) != kNoBase || modrm >= 0x40;
    const unsigned high = code[instruction.vex_offset] != kShortVex ? (~code[instruction.vex_offset + 1] >> 2) & 8u : 0;
    const Register sum = free_register(instruction.touched);
    spill(sum);
    spilled_ = nibbles(sum);
    hot_.load_gs(sum, offsetof(Thread, gs_base));
    if (has_base) hot_.lea_sum(sum, static_cast<Register>((sib & 7u) | high), sum);
    emit_prefixes_and_opcode(instruction, code, true);
    hot_.byte(has_base ? modrm : modrm | 0x80);
    hot_.byte(static_cast<std::uint8_t>((sib & 0xf8) | sum));
    hot_.bytes(code + instruction.sib_offset + 1, instruction.length - instruction.sib_offset - 1u);
    unspill(sum);
}

/// A string instruction reads at gs:[rsi]: rsi is displaced by the gs base while it executes, and nothing else is
/// borrowed meanwhile, so that a fault in it needs to know only that.
void Translation::emit_gs_string(const Instruction& instruction, const std::uint8_t* code) {
    const Register base = free_register(instruction.touched);
    const auto displace = [&](std::size_t by) {
        spill(base);
        hot_.load_gs(base, by);
        hot_.lea_sum(rsi, rsi, base);
        unspill(base);
    };
    if (instruction.address32)  // the copy has 64-bit addresses
        for (const Register reg : {rsi, rdi, rcx})
            if ((instruction.touched >> reg & 1) != 0) hot_.zero_extend32(reg);
    displace(offsetof(Thread, gs_base));
    spilled_ = Mark::kDisplacedSource;
    emit_prefixes(instruction, code);
    const std::size_t prefixes = legacy_prefixes(instruction);
    hot_.bytes(code + prefixes, instruction.length - prefixes);
    displace(offsetof(Thread, minus_gs_base));
}

/// `pointer` holds the address of the operand, and the instruction does not change it: it is displaced by the gs base
/// while the instruction executes.
void Translation::emit_gs_pointer(const Instruction& instruction, const std::uint8_t* code, Register pointer) {
    const Register base = free_register(instruction.touched, static_cast<RegisterSet>(1u << pointer));
    spill(pointer);
    spill(base);
    spilled_ = nibbles(pointer, base);
    if (instruction.address32 && pointer < r8) hot_.zero_extend32(pointer);
    hot_.load_gs(base, offsetof(Thread, gs_base));
    hot_.lea_sum(pointer, pointer, base);
    emit_prefixes(instruction, code);
    const std::size_t prefixes = legacy_prefixes(instruction);
    hot_.bytes(code + prefixes, instruction.length - prefixes);
    unspill(base);
    unspill(pointer);
}

void Translation::emit_gs_absolute(const Instruction& instruction, const std::uint8_t* code) {
    // mov between al/ax/eax/rax and gs:[moffs]: opcodes A0 to A3 become 8A, 8B, 88, 89 with a ModRM operand [rcx]. Of
    // REX only W has an effect on A0 to A3; R, X and B would select other registers in the copy.
    constexpr std::uint8_t kModrmForm[] = {0x8a, 0x8b, 0x88, 0x89};
    const auto offset = static_cast<std::uint64_t>(instruction.displacement);
    spill(rcx);
    spill(rdx);
    spilled_ = nibbles(rcx, rdx);
    hot_.mov(rcx, instruction.address32 ? offset & 0xffffffffu : offset);
    hot_.load_gs(rdx, offsetof(Thread, gs_base));
    hot_.lea_sum(rcx, rcx, rdx);
    emit_prefixes(instruction, code);
    if (instruction.has_rex) hot_.byte(code[instruction.rex_offset] & 0x48);
    hot_.byte(kModrmForm[instruction.opcode & 3]);
    hot_.byte(rcx);
    unspill(rdx);
    unspill(rcx);
}

/// `to` = the address of the ModRM memory operand, without a segment base, and without a displacement that the CPU
/// multiplies. Touches no flag.
void Translation::load_effective_address(const Instruction& instruction, std::uint64_t address, Register to) {
    if (instruction.rip_relative) {
        hot_.mov(to, operand_address(instruction, address));
        refuse_to_relocate();
        return;
    }
    const std::uint8_t* const code = bytes_at(address);
    // lea with the instruction's own ModRM, SIB and displacement, and with X and B from its prefix.
    std::uint8_t rex = 0x48;
    if (instruction.has_rex) rex |= code[instruction.rex_offset] & 3;
    if (instruction.has_vex && code[instruction.vex_offset] != kShortVex)
        rex |= static_cast<std::uint8_t>(((~code[instruction.vex_offset + 1]) >> 5) & 3);
    if (instruction.address32) hot_.byte(0x67);
    hot_.byte(rex), hot_.byte(0x8d);
    hot_.byte(static_cast<std::uint8_t>((code[instruction.modrm_offset] & 0xc7) | (to << 3)));
    if (instruction.sib_offset != 0) hot_.byte(code[instruction.sib_offset]);
    if (has_compressed_displacement(instruction, code))
        hot_.byte(0);
    else
        hot_.bytes(code + instruction.displacement_offset, instruction.displacement_bytes);
}

/// `to` = the value of the operand of an indirect jump or call. `to` is spilled but, as a base or index, still holds
/// the application's value. Borrows kScratchRegister for a gs operand, which is spilled, too.
void Translation::load_operand(const Instruction& instruction, std::uint64_t address, Register to) {
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
        hot_.load_gs(kScratchRegister, offsetof(Thread, gs_base));
        hot_.lea_sum(to, to, kScratchRegister);
    } else if (instruction.rip_relative && !arena_.reaches(operand_address(instruction, address))) {
        hot_.mov(to, operand_address(instruction, address));
        refuse_to_relocate();
    } else {
        emit_operand_load(instruction, address, to);
        return;
    }
    if (instruction.segment == Segment::fs) hot_.byte(0x64);
    hot_.byte(0x48), hot_.byte(0x8b), hot_.byte(static_cast<std::uint8_t>(to << 3 | to));  // mov to, [to]
}

/// mov to, [operand], with the instruction's own operand.
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
        relocate_last(hot_, RelocationKind::to_code, operand_address(instruction, address) - block_->pc);
    } else {
        hot_.bytes(code + instruction.displacement_offset, instruction.displacement_bytes);
    }
}

}  // namespace anyperf::engine::x86_64
