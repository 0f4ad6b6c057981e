// replay_emitter.h: the forms of instructions that the code of replay_code.cpp uses beyond the translator's. Operands
// are ordered as in Intel's manual: the destination first. Memory is [base + displacement], without a segment.
#pragma once

#include "engine/x86_64/translate/emitter.h"
#include "models/caches/core.h"

namespace anyperf::engine {

class ReplayEmitter : public x86_64::Emitter {
  public:
    using Register = x86_64::Register;
    using Condition = x86_64::Condition;
    using Emitter::add;
    using Emitter::Emitter;
    using Emitter::mov;
    using Emitter::movzx8;

    void load(Register to, Register base, std::int64_t displacement) { memory(true, 0x8b, to, base, displacement); }
    void load32(Register to, Register base, std::int64_t displacement) { memory(false, 0x8b, to, base, displacement); }
    void store(Register from, Register base, std::int64_t displacement) {
        memory(true, 0x89, from, base, displacement);
    }
    void store32(Register from, Register base, std::int64_t displacement) {
        memory(false, 0x89, from, base, displacement);
    }
    // The next four are of an entry of a table of ShortPath: of the thread, or of the core, which rbx has.

    /// cmp reg, [entry of this number]
    void cmp_entry(Register reg, const models::ShortPath::Table& table, std::uint64_t number) {
        known_entry(0x3b, reg, table, number);
    }
    /// cmp reg, [entry number `index`]
    void cmp_entry_at(Register reg, const models::ShortPath::Table& table, Register index) {
        if (!table.apart) return cmp_indexed(reg, x86_64::rbx, index, table.entries);
        entry(0x3b, reg, index, table);
    }
    /// mov [entry of this number], from
    void store_entry(Register from, const models::ShortPath::Table& table, std::uint64_t number) {
        known_entry(0x89, from, table, number);
    }
    /// mov [entry number `index`], from
    void store_entry_at(Register from, const models::ShortPath::Table& table, Register index) {
        if (!table.apart) return store_indexed(from, x86_64::rbx, index, table.entries);
        entry(0x89, from, index, table);
    }
    void add_memory(Register to, Register base, std::int64_t displacement) {
        memory(true, 0x03, to, base, displacement);
    }
    void add_to_memory(Register from, Register base, std::int64_t displacement) {
        memory(true, 0x01, from, base, displacement);
    }
    /// movzx r32, word [base + 2 * index + displacement]
    void load16_indexed(Register to, Register base, Register index, std::int64_t displacement) {
        byte(static_cast<std::uint8_t>(0x40 | (to >= 8 ? 4 : 0) | (index >= 8 ? 2 : 0) | (base >= 8 ? 1 : 0)));
        byte(0x0f), byte(0xb7), by_index(to, base, index, 1, displacement);
    }
    /// movzx r32, word [base + displacement]
    void load16(Register to, Register base, std::int64_t displacement) {
        rex(false, to, base), byte(0x0f), byte(0xb7), operand(to, base, displacement);
    }
    /// mov [base + 8 * index + displacement], from
    void store_indexed(Register from, Register base, Register index, std::int64_t displacement) {
        indexed(true, 0x89, from, base, index, 3, displacement);
    }
    /// cmp reg, [base + 8 * index + displacement]
    void cmp_indexed(Register reg, Register base, Register index, std::int64_t displacement) {
        indexed(true, 0x3b, reg, base, index, 3, displacement);
    }
    /// movzx r32, byte [base + displacement]
    void load8(Register to, Register base, std::int64_t displacement) {
        rex(false, to, base), byte(0x0f), byte(0xb6), operand(to, base, displacement);
    }
    /// movsx r32, byte [base]
    void load8_signed(Register to, Register base) {
        rex(false, to, base), byte(0x0f), byte(0xbe), operand(to, base, 0);
    }
    void store8(Register from, Register base) { store8_at(from, base, 0); }
    void store8_at(Register from, Register base, std::int64_t displacement) {
        byte(static_cast<std::uint8_t>(0x40 | (from >= 8 ? 4 : 0) | (base >= 8 ? 1 : 0)));
        byte(0x88), operand(from, base, displacement);
    }

    void add(Register to, Register from) { registers(true, 0x03, to, from); }
    void sub32(Register to, Register from) { registers(false, 0x2b, to, from); }
    void xor_(Register to, Register from) { registers(true, 0x33, to, from); }
    void xor32(Register to, Register from) { registers(false, 0x33, to, from); }
    void cmp(Register a, Register b) { registers(true, 0x3b, a, b); }
    void cmp32(Register a, Register b) { registers(false, 0x3b, a, b); }
    void test32(Register a, Register b) { registers(false, 0x85, b, a); }
    void test32_immediate(Register reg, std::uint32_t value) {
        rex(false, 0, reg), byte(0xf7), byte(static_cast<std::uint8_t>(0xc0 | (reg & 7))), u32(value);
    }
    void mov32(Register to, Register from) { registers(false, 0x8b, to, from); }
    /// test al, al and the like. Precondition: rax to rbx.
    void test8(Register reg) { byte(0x84), byte(static_cast<std::uint8_t>(0xc0 | reg << 3 | reg)); }
    void imul(Register to, Register from) {
        rex(true, to, from), byte(0x0f), byte(0xaf), byte(static_cast<std::uint8_t>(0xc0 | (to & 7) << 3 | (from & 7)));
    }
    void cmp(Register reg, std::uint32_t value) { immediate(true, 7, reg, value); }
    void and32(Register reg, std::uint32_t value) { immediate(false, 4, reg, value); }
    void xor32_immediate(Register reg, std::uint32_t value) { immediate(false, 6, reg, value); }
    void shl(Register reg, unsigned count) { shift(true, 4, reg, count); }
    void shr(Register reg, unsigned count) { shift(true, 5, reg, count); }
    void shr32(Register reg, unsigned count) { shift(false, 5, reg, count); }
    /// setcc. Precondition: rax to rbx.
    void set(Condition condition, Register reg) {
        byte(0x0f), byte(static_cast<std::uint8_t>(0x90 | static_cast<unsigned>(condition)));
        byte(static_cast<std::uint8_t>(0xc0 | reg));
    }
    void cmov(Condition condition, Register to, Register from) { conditional_move(true, condition, to, from); }
    void cmov32(Condition condition, Register to, Register from) { conditional_move(false, condition, to, from); }
    /// lea to, [reg + reg + displacement]
    void lea_twice(Register to, Register reg, std::int32_t displacement) {
        byte(static_cast<std::uint8_t>(0x48 | (to >= 8 ? 4 : 0) | (reg >= 8 ? 3 : 0)));
        byte(0x8d), byte(static_cast<std::uint8_t>(0x84 | (to & 7) << 3));
        byte(static_cast<std::uint8_t>((reg & 7) << 3 | (reg & 7))), u32(static_cast<std::uint32_t>(displacement));
    }
    /// lea r32, [base + 2 * index - 1]. Precondition: the low eight registers.
    void lea_step(Register to, Register base, Register index) {
        byte(0x8d), byte(static_cast<std::uint8_t>(0x44 | to << 3));
        byte(static_cast<std::uint8_t>(0x40 | index << 3 | base)), byte(0xff);
    }

    std::uint8_t* jcc_far(Condition condition) { return jcc_far_forward(static_cast<std::uint8_t>(condition)); }
    std::uint8_t* jcc_short(Condition condition) { return jcc_forward(static_cast<std::uint8_t>(condition)); }
    std::uint8_t* jmp_far() {
        byte(0xe9), u32(0);
        return at() - 4;
    }
    void jmp_register(Register reg) {
        if (reg >= 8) byte(0x41);
        byte(0xff), byte(static_cast<std::uint8_t>(0xe0 | (reg & 7)));
    }
    void jmp_memory(Register base, std::int64_t displacement) {
        rex(false, 0, base), byte(0xff), operand(4, base, displacement);
    }
    /// A call of a function anywhere; changes rax.
    void call(std::uint64_t function) { mov(x86_64::rax, function), byte(0xff), byte(0xd0); }
    /// A call of code of the same memory.
    void call_near(const std::uint8_t* code) { byte(0xe8), u32(static_cast<std::uint32_t>(code - (at() + 4))); }
    void ret() { byte(0xc3); }

  private:
    void rex(bool wide, unsigned reg, unsigned rm) {
        const unsigned value = 0x40U | (wide ? 8U : 0U) | (reg >= 8 ? 4U : 0U) | (rm >= 8 ? 1U : 0U);
        if (value != 0x40) byte(static_cast<std::uint8_t>(value));
    }
    void entry(std::uint8_t opcode, unsigned reg, unsigned index, const models::ShortPath::Table& table) {
        byte(0x65), byte(static_cast<std::uint8_t>(0x48 | (reg >= 8 ? 4 : 0) | (index >= 8 ? 2 : 0)));
        byte(opcode), byte(static_cast<std::uint8_t>((reg & 7) << 3 | 4));
        byte(static_cast<std::uint8_t>(0xc5 | (index & 7) << 3)), u32(static_cast<std::uint32_t>(table.entries));
    }
    void known_entry(std::uint8_t opcode, Register reg, const models::ShortPath::Table& table, std::uint64_t number) {
        const std::int64_t at = table.entries + static_cast<std::int64_t>(8 * (number & table.mask));
        if (!table.apart) return memory(true, opcode, reg, x86_64::rbx, at);
        byte(0x65), byte(reg >= 8 ? 0x4c : 0x48), byte(opcode), byte(static_cast<std::uint8_t>((reg & 7) << 3 | 4));
        byte(0x25), u32(static_cast<std::uint32_t>(at));
    }
    void registers(bool wide, std::uint8_t opcode, unsigned reg, unsigned rm) {
        rex(wide, reg, rm), byte(opcode), byte(static_cast<std::uint8_t>(0xc0 | (reg & 7) << 3 | (rm & 7)));
    }
    void memory(bool wide, std::uint8_t opcode, unsigned reg, unsigned base, std::int64_t displacement) {
        rex(wide, reg, base), byte(opcode), operand(reg, base, displacement);
    }
    void indexed(bool wide, std::uint8_t opcode, unsigned reg, unsigned base, unsigned index, unsigned scale,
                 std::int64_t displacement) {
        byte(static_cast<std::uint8_t>(0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0) | (index >= 8 ? 2 : 0) |
                                       (base >= 8 ? 1 : 0)));
        byte(opcode), by_index(reg, base, index, scale, displacement);
    }
    void by_index(unsigned reg, unsigned base, unsigned index, unsigned scale, std::int64_t displacement) {
        byte(static_cast<std::uint8_t>(0x84 | (reg & 7) << 3));
        byte(static_cast<std::uint8_t>(scale << 6 | (index & 7) << 3 | (base & 7)));
        u32(static_cast<std::uint32_t>(displacement));
    }
    void operand(unsigned reg, unsigned base, std::int64_t displacement) {
        const bool small = displacement >= -128 && displacement <= 127;
        byte(static_cast<std::uint8_t>((small ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7)));
        if ((base & 7) == x86_64::rsp) byte(0x24);
        if (small)
            byte(static_cast<std::uint8_t>(displacement));
        else
            u32(static_cast<std::uint32_t>(displacement));
    }
    void immediate(bool wide, unsigned operation, unsigned reg, std::uint32_t value) {
        const bool small = value < 0x80;
        rex(wide, 0, reg), byte(small ? 0x83 : 0x81);
        byte(static_cast<std::uint8_t>(0xc0 | operation << 3 | (reg & 7)));
        if (small)
            byte(static_cast<std::uint8_t>(value));
        else
            u32(value);
    }
    void shift(bool wide, unsigned operation, unsigned reg, unsigned count) {
        rex(wide, 0, reg), byte(0xc1), byte(static_cast<std::uint8_t>(0xc0 | operation << 3 | (reg & 7)));
        byte(static_cast<std::uint8_t>(count));
    }
    void conditional_move(bool wide, Condition condition, unsigned to, unsigned from) {
        rex(wide, to, from), byte(0x0f), byte(static_cast<std::uint8_t>(0x40 | static_cast<unsigned>(condition)));
        byte(static_cast<std::uint8_t>(0xc0 | (to & 7) << 3 | (from & 7)));
    }
};

}  // namespace anyperf::engine
