// emitter.h: writes host instructions into memory. It has only the forms that the translator and its routines use. Each
// is a function named after the mnemonic in the manual, or after what it does, if that is one instruction. A suffix
// `_gs` means a memory operand in the Thread, given by its offset (gs:[disp32]). Operands are 64 bits wide unless the
// name ends in 32, 16 or 8 (of movzx: the source's width) or names a 32-bit register. Nothing checks that a register is
// allowed where the encoding excludes some: each such function has a precondition in its comment.
//
// The bytes are those of SDM volume 2, chapter 2. REX is 0x40 with W 8, R 4, X 2 and B 1. ModRM.rm 4 announces a SIB
// byte. gs:[disp32] is SIB base 5 without index under ModRM.mod 0, because the form without SIB would be relative to
// rip.
//
// When the room ends, writing stops and overflowed() says so. So code is written without a check at each instruction,
// and the caller discards the whole if it did not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/x86_64/cpu/registers.h"

namespace anyperf::engine::x86_64 {

/// Condition codes of jcc, as encoded in its opcode's low nibble.
enum class Condition : std::uint8_t {
    below = 2,
    above_or_equal = 3,
    equal = 4,
    not_equal = 5,
    below_or_equal = 6,
    above = 7,
    sign = 8,
    no_sign = 9,
    less = 12,
    less_or_equal = 14,
    greater = 15,
};

/// A cursor in a range of memory. A copy advances independently. Arena::commit() takes at() of the cursor that wrote.
/// All addresses are those at which the code will be executed; it is written `to_writable` bytes further on.
class Emitter {
  public:
    Emitter(std::uint8_t* at, std::uint8_t* end, std::ptrdiff_t to_writable = 0)
        : at_(at), end_(end), to_writable_(to_writable) {}
    explicit Emitter(std::span<std::uint8_t> room, std::ptrdiff_t to_writable = 0)
        : Emitter(room.data(), room.data() + room.size(), to_writable) {}

    std::uint8_t* at() const { return at_; }
    std::size_t room() const { return static_cast<std::size_t>(end_ - at_); }
    /// Something did not fit. What was written is incomplete and must be discarded.
    bool overflowed() const { return overflowed_; }

    void byte(std::uint8_t value) {
        if (at_ == end_) {
            overflowed_ = true;
            return;
        }
        at_[to_writable_] = value;
        ++at_;
    }
    /// Mostly an instruction: a few bytes, of a length that no branch predictor foresees. So they are written as two
    /// words that overlap.
    void bytes(const std::uint8_t* data, std::size_t count) {
        if (room() < count) {
            overflowed_ = true;
            return;
        }
        std::uint8_t* const to = at_ + to_writable_;
        at_ += count;
        if (count > 2 * sizeof(std::uint64_t) || count < sizeof(std::uint16_t)) {
            for (std::size_t i = 0; i < count; ++i) to[i] = data[i];
        } else if (count >= sizeof(std::uint64_t)) {
            copy_overlapping<std::uint64_t>(to, data, count);
        } else if (count >= sizeof(std::uint32_t)) {
            copy_overlapping<std::uint32_t>(to, data, count);
        } else {
            copy_overlapping<std::uint16_t>(to, data, count);
        }
    }
    void u32(std::uint32_t value) {
        if (room() < sizeof value) {
            overflowed_ = true;
            return;
        }
        __builtin_memcpy(at_ + to_writable_, &value, sizeof value);
        at_ += sizeof value;
    }
    void u64(std::uint64_t value) {
        u32(static_cast<std::uint32_t>(value));
        u32(static_cast<std::uint32_t>(value >> 32));
    }

    void store_gs(Register reg, std::size_t offset) { gs_form(0x89, reg, offset, true); }
    void load_gs(Register reg, std::size_t offset) { gs_form(0x8b, reg, offset, true); }
    void store_gs32(Register reg, std::size_t offset) { gs_form(0x89, reg, offset, false); }
    void store_gs16(Register reg, std::size_t offset) { byte(0x66), gs_form(0x89, reg, offset, false); }
    void movzx16_gs(Register to, std::size_t offset) {  // movzx r32, word gs:[offset]
        byte(0x65), byte(to >= r8 ? 0x44 : 0x40);       // the same length for all registers
        byte(0x0f), byte(0xb7), byte(static_cast<std::uint8_t>(((to & 7) << 3) | 4)), byte(0x25);
        u32(static_cast<std::uint32_t>(offset));
    }
    void load_gs32(Register reg, std::size_t offset) { gs_form(0x8b, reg, offset, false); }

    void add_gs(std::size_t offset, std::int32_t value) { gs_immediate(0, offset, value); }
    void sub_gs(std::size_t offset, std::int32_t value) { gs_immediate(5, offset, value); }
    void inc_gs(std::size_t offset) {
        four(0x65, 0x48, 0xff, 0x04), byte(0x25), u32(static_cast<std::uint32_t>(offset));
    }
    void mov_gs32(std::size_t offset, std::uint32_t value) {  // mov dword gs:[offset], imm32
        four(0x65, 0xc7, 0x04, 0x25), u32(static_cast<std::uint32_t>(offset)), u32(value);
    }
    // The next three: op byte gs:[offset], imm8.
    void test_gs8(std::size_t offset, std::uint8_t value) { gs_byte(0xf6, 0, offset, value); }
    void add_gs16(std::size_t offset, std::int8_t value) {  // add word gs:[offset], imm8, which is sign-extended
        byte(0x66), gs_byte(0x83, 0, offset, static_cast<std::uint8_t>(value));
    }
    void mov_gs8(std::size_t offset, std::uint8_t value) { gs_byte(0xc6, 0, offset, value); }
    void cmp_gs8(std::size_t offset, std::uint8_t value) { gs_byte(0x80, 7, offset, value); }
    void jmp_gs(std::size_t offset) {
        byte(0x65), byte(0xff), byte(0x24), byte(0x25), u32(static_cast<std::uint32_t>(offset));
    }
    void call_gs(std::size_t offset) {
        byte(0x65), byte(0xff), byte(0x14), byte(0x25), u32(static_cast<std::uint32_t>(offset));
    }

    /// A mov that sets the whole register: with a 32-bit immediate if the value fits without a sign, else 64-bit.
    void mov(Register reg, std::uint64_t value) {
        if (value <= 0xffffffffu) {
            if (reg >= r8) byte(0x41);
            byte(static_cast<std::uint8_t>(0xb8 + (reg & 7))), u32(static_cast<std::uint32_t>(value));
        } else {
            byte(reg >= r8 ? 0x49 : 0x48), byte(static_cast<std::uint8_t>(0xb8 + (reg & 7))), u64(value);
        }
    }
    void mov(Register to, Register from) { rex_pair(from, to), byte(0x89), byte(pair(from, to)); }
    /// mov r32, r32: clears the upper half. Precondition: one of the low eight registers.
    void zero_extend32(Register reg) { byte(0x89), byte(pair(reg, reg)); }
    void movzx16(Register to, Register from) {  // movzx r32, r16
        if (to >= r8 || from >= r8) byte(static_cast<std::uint8_t>(0x40 | (to >= r8 ? 4 : 0) | (from >= r8 ? 1 : 0)));
        byte(0x0f), byte(0xb7), byte(pair(to, from));
    }
    /// Precondition: `index` is not rsp or r12, which need a SIB byte.
    void movzx8_gs(Register to, Register index, std::size_t offset) {  // movzx r32, byte gs:[index + offset]
        byte(0x65);
        if (to >= r8 || index >= r8) byte(static_cast<std::uint8_t>(0x40 | (to >= r8 ? 4 : 0) | (index >= r8 ? 1 : 0)));
        byte(0x0f), byte(0xb6), byte(static_cast<std::uint8_t>(0x80 | ((to & 7) << 3) | (index & 7)));
        u32(static_cast<std::uint32_t>(offset));
    }
    /// Precondition: `index` is not rsp, which means no index.
    void store_gs_by_index(Register reg, Register index, std::size_t offset) {  // mov gs:[8 * index + offset], reg
        byte(0x65);
        byte(static_cast<std::uint8_t>(0x48 | (reg >= r8 ? 4 : 0) | (index >= r8 ? 2 : 0)));
        byte(0x89), byte(static_cast<std::uint8_t>(((reg & 7) << 3) | 4));
        byte(static_cast<std::uint8_t>(0xc5 | ((index & 7) << 3)));
        u32(static_cast<std::uint32_t>(offset));
    }
    void mov_gs8_by_index(Register index, std::size_t offset, std::uint8_t value) {  // mov byte gs:[8 * index + offset]
        gs_byte_by_index(0xc6, index, offset), byte(value);
    }
    void inc_gs8_by_index(Register index, std::size_t offset) { gs_byte_by_index(0xfe, index, offset); }
    /// mov gs:[base + offset], reg. Precondition: `base` is not rsp or r12, which need a SIB byte.
    void store_gs_at(Register reg, Register base, std::size_t offset) {
        byte(0x65);
        byte(static_cast<std::uint8_t>(0x48 | (reg >= r8 ? 4 : 0) | (base >= r8 ? 1 : 0)));
        byte(0x89), byte(static_cast<std::uint8_t>(0x80 | ((reg & 7) << 3) | (base & 7)));
        u32(static_cast<std::uint32_t>(offset));
    }
    /// mov reg, gs:[base + offset]. Precondition: as store_gs_at(); also for mov_gs32_at().
    void load_gs_at(Register reg, Register base, std::size_t offset) {
        byte(0x65);
        byte(static_cast<std::uint8_t>(0x48 | (reg >= r8 ? 4 : 0) | (base >= r8 ? 1 : 0)));
        byte(0x8b), byte(static_cast<std::uint8_t>(0x80 | ((reg & 7) << 3) | (base & 7)));
        u32(static_cast<std::uint32_t>(offset));
    }
    void load_gs32_at(Register reg, Register base, std::size_t offset) { gs32_at(0x8b, reg, base, offset); }
    void store_gs32_at(Register reg, Register base, std::size_t offset) { gs32_at(0x89, reg, base, offset); }
    // The forms up to restore_flags() are for the low eight registers, and no base is rsp.

    // The next three: op byte gs:[base + offset], of any base but rsp and r12.
    void inc_gs8_at(Register base, std::size_t offset) { gs_byte_at(0xfe, 0, base, offset); }
    void dec_gs8_at(Register base, std::size_t offset) { gs_byte_at(0xfe, 1, base, offset); }
    void cmp_gs8_at(Register base, std::size_t offset, std::uint8_t value) {
        gs_byte_at(0x80, 7, base, offset), byte(value);
    }
    void cmp32_gs_at(Register reg, Register base, std::size_t offset) {  // cmp r32, gs:[base + offset]
        byte(0x65), byte(0x3b), byte(static_cast<std::uint8_t>(0x80 | (reg << 3) | base));
        u32(static_cast<std::uint32_t>(offset));
    }
    void mov32(Register to, Register from) { byte(0x89), byte(pair(from, to)); }
    void and32(Register reg, std::uint8_t value) { byte(0x83), byte(pair(rsp, reg)), byte(value); }  // value < 128
    void shl32(Register reg, std::uint8_t count) { byte(0xc1), byte(pair(rsp, reg)), byte(count); }
    void shr(Register reg, std::uint8_t count) { byte(0x48), byte(0xc1), byte(pair(rbp, reg)), byte(count); }
    void shr_by_cl(Register reg) { byte(0x48), byte(0xd3), byte(pair(rbp, reg)); }
    /// lahf; seto al: the status flags into ax. All CPUs with 64-bit mode but the first have lahf there.
    void save_flags() { byte(0x9f), byte(0x0f), byte(0x90), byte(0xc0); }
    /// add $0x7f, al; sahf: the status flags from ax.
    void restore_flags() { byte(0x04), byte(0x7f), byte(0x9e); }

    void mov_gs32_at(Register base, std::size_t offset, std::uint32_t value) {  // mov dword gs:[base + offset], imm32
        byte(0x65);
        if (base >= r8) byte(0x41);
        byte(0xc7), byte(static_cast<std::uint8_t>(0x80 | (base & 7)));
        u32(static_cast<std::uint32_t>(offset)), u32(value);
    }
    /// mov qword gs:[base + offset], imm32. Precondition: `value` is below 2 GiB, and as store_gs_at().
    void mov_gs_at(Register base, std::size_t offset, std::uint32_t value) {
        byte(0x65), byte(base >= r8 ? 0x49 : 0x48);
        byte(0xc7), byte(static_cast<std::uint8_t>(0x80 | (base & 7)));
        u32(static_cast<std::uint32_t>(offset)), u32(value);
    }
    void rdfsbase(Register to) {
        byte(0xf3), byte(to >= r8 ? 0x49 : 0x48), byte(0x0f), byte(0xae), byte(pair(rax, to));
    }
    void add(Register to, std::int32_t value) {
        byte(to >= r8 ? 0x49 : 0x48), byte(0x81), byte(pair(rax, to)), u32(static_cast<std::uint32_t>(value));
    }
    /// movzx r32, low byte. Precondition: `from` is rax, rcx, rdx, rbx or r8 to r15.
    void movzx8(Register to, Register from) {
        if (to >= r8 || from >= r8) byte(static_cast<std::uint8_t>(0x40 | (to >= r8 ? 4 : 0) | (from >= r8 ? 1 : 0)));
        byte(0x0f), byte(0xb6), byte(pair(to, from));
    }
    void movzx_ch() { byte(0x0f), byte(0xb6), byte(0xcd); }  // movzx ecx, ch
    void lea32_ecx_and_twice(Register reg) {                 // lea ecx, [rcx + 2 * reg]
        byte(static_cast<std::uint8_t>(0x40 | (reg >= r8 ? 2 : 0)));
        byte(0x8d), byte(0x0c), byte(static_cast<std::uint8_t>(0x41 | (reg & 7) << 3));
    }
    void lea32_ecx_by_nine() { byte(0x8d), byte(0x0c), byte(0xc9); }  // lea ecx, [rcx + 8 * rcx]
    void not_(Register reg) { byte(reg >= r8 ? 0x49 : 0x48), byte(0xf7), byte(pair(rdx, reg)); }  // touches no flag
    void not32(Register reg) {  // likewise; the upper half becomes 0
        if (reg >= r8) byte(0x41);
        byte(0xf7), byte(pair(rdx, reg));
    }
    void push(Register reg) { short_form(0x50, reg); }
    void pop(Register reg) { short_form(0x58, reg); }
    void push_immediate(std::int32_t value) { byte(0x68), u32(static_cast<std::uint32_t>(value)); }
    void pushfq() { byte(0x9c); }
    void popfq() { byte(0x9d); }
    void push_gs(std::size_t offset) {
        byte(0x65), byte(0xff), byte(0x34), byte(0x25), u32(static_cast<std::uint32_t>(offset));
    }
    void push_gs_by_index(Register index, std::size_t offset) {  // push qword gs:[8 * index + offset]
        stack_by_index(0xff, rsi, index, offset);
    }
    void pop_gs_by_index(Register index, std::size_t offset) {  // pop qword gs:[8 * index + offset]
        stack_by_index(0x8f, rax, index, offset);
    }
    /// pext to, from, gs:[mask]: the bits of `from` that the mask has, next to each other. BMI2; touches no flag.
    void pext_gs(Register to, Register from, std::size_t mask) {
        byte(0x65), byte(0xc4), byte(static_cast<std::uint8_t>(to >= r8 ? 0x62 : 0xe2));
        byte(static_cast<std::uint8_t>(0x82 | (~from & 15) << 3)), byte(0xf5);
        byte(static_cast<std::uint8_t>(((to & 7) << 3) | 4)), byte(0x25), u32(static_cast<std::uint32_t>(mask));
    }
    void ret() { byte(0xc3); }
    void trap() { byte(0xcc); }  // int3
    /// A call of code that follows later. Pass the result to bind_far() there.
    std::uint8_t* call_far_forward() {
        byte(0xe8), u32(0);
        return at_ - 4;
    }
    void push_word(const std::uint8_t* word) { byte(0xff), byte(0x35), relative(word); }  // push [rip + disp32]
    void load_word(Register to, const std::uint8_t* word) {                               // mov to, [rip + disp32]
        byte(to >= r8 ? 0x4c : 0x48), byte(0x8b);
        byte(static_cast<std::uint8_t>(((to & 7) << 3) | 5)), relative(word);
    }
    void store_stack(Register reg, std::int8_t displacement) { stack_form(0x89, reg, displacement); }
    void load_stack(Register reg, std::int8_t displacement) { stack_form(0x8b, reg, displacement); }
    void or_stack(std::int32_t value) {  // or qword [rsp], imm32
        byte(0x48), byte(0x81), byte(0x0c), byte(0x24), u32(static_cast<std::uint32_t>(value));
    }
    /// mov r32, ss. Precondition: one of the low eight registers; also for mov_from_cs().
    void mov_from_ss(Register reg) { byte(0x8c), byte(static_cast<std::uint8_t>(0xd0 | reg)); }
    void mov_from_cs(Register reg) { byte(0x8c), byte(static_cast<std::uint8_t>(0xc8 | reg)); }
    void test_eax(std::uint32_t bits) { byte(0xa9), u32(bits); }
    void iretq() { byte(0x48), byte(0xcf); }
    void cld() { byte(0xfc); }

    void lea(Register to, Register base, std::int32_t displacement) { lea_form(0x48, to, base, displacement); }
    void lea32(Register to, Register base, std::int32_t displacement) { lea_form(0x40, to, base, displacement); }
    void lea_relative(Register to, const std::uint8_t* target) {  // lea to, [rip + disp32]
        byte(to >= r8 ? 0x4c : 0x48), byte(0x8d);
        byte(static_cast<std::uint8_t>(((to & 7) << 3) | 5)), relative(target);
    }
    /// lea to, [base + index + displacement]. Precondition: index is not rsp.
    void lea_sum(Register to, Register base, Register index, std::int8_t displacement = 0) {
        byte(static_cast<std::uint8_t>(0x48 | (to >= r8 ? 4 : 0) | (index >= r8 ? 2 : 0) | (base >= r8 ? 1 : 0)));
        byte(0x8d), byte(static_cast<std::uint8_t>(0x44 | ((to & 7) << 3)));
        byte(static_cast<std::uint8_t>(((index & 7) << 3) | (base & 7))), byte(static_cast<std::uint8_t>(displacement));
    }

    /// lea r32, [base + index + displacement]. Precondition: index is not rsp.
    void lea32_sum(Register to, Register base, Register index, std::int8_t displacement) {
        byte(static_cast<std::uint8_t>(0x40 | (to >= r8 ? 4 : 0) | (index >= r8 ? 2 : 0) | (base >= r8 ? 1 : 0)));
        byte(0x8d), byte(static_cast<std::uint8_t>(0x44 | ((to & 7) << 3)));
        byte(static_cast<std::uint8_t>(((index & 7) << 3) | (base & 7))), byte(static_cast<std::uint8_t>(displacement));
    }
    /// lea r32, [4 * index + displacement]. Precondition: index is not rsp.
    void lea32_by_four(Register to, Register index, std::uint32_t displacement) {
        byte(static_cast<std::uint8_t>(0x40 | (to >= r8 ? 4 : 0) | (index >= r8 ? 2 : 0)));
        byte(0x8d), byte(static_cast<std::uint8_t>(((to & 7) << 3) | 4));
        byte(static_cast<std::uint8_t>(0x85 | ((index & 7) << 3))), u32(displacement);
    }

    // The next ones take any registers; an index is not rsp.

    /// lea to, [base + (index << scale) + displacement]. rsp as index: none.
    void lea_address(Register to, Register base, Register index, unsigned scale, std::int32_t displacement) {
        byte(static_cast<std::uint8_t>(0x48 | (to >= r8 ? 4 : 0) | (index >= r8 ? 2 : 0) | (base >= r8 ? 1 : 0)));
        byte(0x8d), byte(static_cast<std::uint8_t>(0x84 | (to & 7) << 3));
        byte(static_cast<std::uint8_t>(scale << 6 | (index & 7) << 3 | (base & 7)));
        u32(static_cast<std::uint32_t>(displacement));
    }
    /// lea to, [(index << scale) + displacement]
    void lea_index(Register to, Register index, unsigned scale, std::int32_t displacement) {
        byte(static_cast<std::uint8_t>(0x48 | (to >= r8 ? 4 : 0) | (index >= r8 ? 2 : 0)));
        byte(0x8d), byte(static_cast<std::uint8_t>(0x04 | (to & 7) << 3));
        byte(static_cast<std::uint8_t>(scale << 6 | (index & 7) << 3 | 5)),
            u32(static_cast<std::uint32_t>(displacement));
    }
    void shift_right(Register reg, unsigned count) {
        byte(reg >= r8 ? 0x49 : 0x48), byte(0xc1), byte(pair(rbp, reg)), byte(static_cast<std::uint8_t>(count));
    }
    void mask32(Register reg, std::uint32_t bits) {  // and r32, imm32
        if (reg >= r8) byte(0x41);
        byte(0x81), byte(pair(rsp, reg)), u32(bits);
    }
    void test_bits32(Register reg, std::uint32_t bits) {  // test r32, imm32
        if (reg >= r8) byte(0x41);
        byte(0xf7), byte(pair(rax, reg)), u32(bits);
    }
    /// mov r32, r32: clears the upper half.
    void copy32(Register to, Register from) {
        if (to >= r8 || from >= r8) byte(static_cast<std::uint8_t>(0x40 | (from >= r8 ? 4 : 0) | (to >= r8 ? 1 : 0)));
        byte(0x89), byte(pair(from, to));
    }
    void cmp_gs(Register reg, std::size_t offset) { gs_form(0x3b, reg, offset, true); }
    void add_to_gs(Register reg, std::size_t offset) { gs_form(0x01, reg, offset, true); }
    void sub_from_gs(Register reg, std::size_t offset) { gs_form(0x29, reg, offset, true); }
    void cmp_gs_by_index(Register reg, Register index, std::size_t offset) {  // cmp reg, gs:[8 * index + offset]
        byte(0x65), byte(static_cast<std::uint8_t>(0x48 | (reg >= r8 ? 4 : 0) | (index >= r8 ? 2 : 0)));
        byte(0x3b), byte(static_cast<std::uint8_t>(((reg & 7) << 3) | 4));
        byte(static_cast<std::uint8_t>(0xc5 | ((index & 7) << 3))), u32(static_cast<std::uint32_t>(offset));
    }
    void cmp_gs32(std::size_t offset, std::int32_t value) {  // cmp dword gs:[offset], imm32
        four(0x65, 0x81, 0x3c, 0x25), u32(static_cast<std::uint32_t>(offset)), u32(static_cast<std::uint32_t>(value));
    }

    /// A short jump forward. Pass the result to bind() at its target, at most 127 bytes ahead.
    std::uint8_t* jrcxz_forward() { return short_forward(0xe3); }
    std::uint8_t* jmp_forward() { return short_forward(0xeb); }
    std::uint8_t* jcc_forward(std::uint8_t condition) {
        return short_forward(static_cast<std::uint8_t>(0x70 | condition));
    }
    /// loop to `target`, which is at most 126 bytes before this instruction.
    void loop_back(const std::uint8_t* target) { byte(0xe2), byte(static_cast<std::uint8_t>(target - (at_ + 1))); }
    /// The next instruction is the target of the short jump with this operand.
    void bind(std::uint8_t* operand) {
        if (!overflowed_) operand[to_writable_] = static_cast<std::uint8_t>(at_ - (operand + 1));
    }

    /// jcc_forward() with a 32-bit displacement. Pass the result to bind_far() at its target.
    std::uint8_t* jcc_far_forward(std::uint8_t condition) {
        byte(0x0f), byte(static_cast<std::uint8_t>(0x80 | condition)), u32(0);
        return at_ - 4;
    }
    std::uint8_t* jmp_far_forward() {
        byte(0xe9), u32(0);
        return at_ - 4;
    }
    void bind_far(std::uint8_t* operand) { bind_far(operand, at_); }
    /// The same for a target in another part of the code.
    void bind_far(std::uint8_t* operand, const std::uint8_t* target) {
        if (overflowed_) return;
        const auto distance = static_cast<std::uint32_t>(target - (operand + 4));
        std::uint8_t* const bytes = operand + to_writable_;
        for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(distance >> (8 * i));
    }

    /// jmp [table + 8 * index]. The table is below 2 GiB, because the displacement is sign-extended. Index is not rsp.
    void jmp_table(std::uint32_t table, Register index) {
        if (index >= r8) byte(0x42);
        byte(0xff), byte(0x24), byte(static_cast<std::uint8_t>(0xc5 | ((index & 7) << 3))), u32(table);
    }

    /// jmp [rip + disp32], to the address in the eight bytes at `word`.
    void jmp_word(const std::uint8_t* word) { byte(0xff), byte(0x25), relative(word); }
    void jmp(const std::uint8_t* target) { byte(0xe9), relative(target); }
    void jcc(Condition condition, const std::uint8_t* target) {
        byte(0x0f), byte(static_cast<std::uint8_t>(0x80 | static_cast<unsigned>(condition))), relative(target);
    }
    /// Writes the rel32 of an instruction that ends with it. Precondition: `target` is within 2 GiB.
    void relative(const std::uint8_t* target) { u32(static_cast<std::uint32_t>(target - (at_ + 4))); }

    /// One nop instruction of 1 to 8 bytes: the recommended forms (SDM volume 2, "NOP").
    void nop(std::size_t length) {
        static constexpr std::uint8_t kNops[8][8] = {
            {0x90},
            {0x66, 0x90},
            {0x0f, 0x1f, 0x00},
            {0x0f, 0x1f, 0x40, 0x00},
            {0x0f, 0x1f, 0x44, 0x00, 0x00},
            {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
            {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
            {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
        };
        if (length > 0) bytes(kNops[length - 1], length);
    }

  private:
    /// Four bytes by one store: most of the code that is written consists of prologues and stubs.
    /// The first and the last of `count` bytes, which are one to two words.
    template <class Word>
    static void copy_overlapping(std::uint8_t* to, const std::uint8_t* from, std::size_t count) {
        Word first;
        Word last;
        __builtin_memcpy(&first, from, sizeof first);
        __builtin_memcpy(&last, from + count - sizeof last, sizeof last);
        __builtin_memcpy(to, &first, sizeof first);
        __builtin_memcpy(to + count - sizeof last, &last, sizeof last);
    }
    void four(unsigned a, unsigned b, unsigned c, unsigned d) { u32(a | b << 8 | c << 16 | d << 24); }
    /// ModRM with two register operands.
    static std::uint8_t pair(Register reg, Register rm) {
        return static_cast<std::uint8_t>(0xc0 | ((reg & 7) << 3) | (rm & 7));
    }
    void rex_pair(Register reg, Register rm) {
        byte(static_cast<std::uint8_t>(0x48 | (reg >= r8 ? 4 : 0) | (rm >= r8 ? 1 : 0)));
    }
    void short_form(std::uint8_t opcode, Register reg) {
        if (reg >= r8) byte(0x41);
        byte(static_cast<std::uint8_t>(opcode + (reg & 7)));
    }
    void lea_form(unsigned rex, Register to, Register base, std::int32_t displacement) {
        rex |= (to >= r8 ? 4u : 0u) | (base >= r8 ? 1u : 0u);
        if (rex != 0x40) byte(static_cast<std::uint8_t>(rex));
        const bool small = displacement >= -128 && displacement <= 127;
        byte(0x8d), byte(static_cast<std::uint8_t>((small ? 0x40 : 0x80) | ((to & 7) << 3) | (base & 7)));
        if ((base & 7) == rsp) byte(0x24);
        if (small)
            byte(static_cast<std::uint8_t>(displacement));
        else
            u32(static_cast<std::uint32_t>(displacement));
    }
    /// Precondition: `index` is not rsp, which means no index.
    void stack_by_index(std::uint8_t opcode, Register extension, Register index, std::size_t offset) {
        byte(0x65);
        if (index >= r8) byte(0x42);
        byte(opcode), byte(static_cast<std::uint8_t>((extension << 3) | 4));
        byte(static_cast<std::uint8_t>(0xc5 | ((index & 7) << 3))), u32(static_cast<std::uint32_t>(offset));
    }
    void stack_form(std::uint8_t opcode, Register reg, std::int8_t displacement) {  // [rsp + disp8]
        byte(reg >= r8 ? 0x4c : 0x48), byte(opcode), byte(static_cast<std::uint8_t>(0x44 | ((reg & 7) << 3)));
        byte(0x24), byte(static_cast<std::uint8_t>(displacement));
    }
    std::uint8_t* short_forward(std::uint8_t opcode) {
        byte(opcode), byte(0);
        return at_ - 1;
    }
    void gs_form(std::uint8_t opcode, Register reg, std::size_t offset, bool wide) {
        byte(0x65);
        const unsigned rex = 0x40u | (wide ? 8u : 0u) | (reg >= r8 ? 4u : 0u);
        if (rex != 0x40) byte(static_cast<std::uint8_t>(rex));
        byte(opcode), byte(static_cast<std::uint8_t>(((reg & 7) << 3) | 4)), byte(0x25),
            u32(static_cast<std::uint32_t>(offset));
    }
    void gs_immediate(unsigned operation, std::size_t offset, std::int32_t value) {
        const bool small = value >= -128 && value <= 127;
        four(0x65, 0x48, small ? 0x83 : 0x81, operation << 3 | 4), byte(0x25);
        u32(static_cast<std::uint32_t>(offset));
        if (small)
            byte(static_cast<std::uint8_t>(value));
        else
            u32(static_cast<std::uint32_t>(value));
    }

    void gs_byte(std::uint8_t opcode, unsigned operation, std::size_t offset, std::uint8_t value) {
        byte(0x65), byte(opcode), byte(static_cast<std::uint8_t>((operation << 3) | 4)), byte(0x25);
        u32(static_cast<std::uint32_t>(offset)), byte(value);
    }
    /// Operation 0 of `opcode`. Precondition: `index` is one of the low eight registers, and not rsp.
    void gs_byte_by_index(std::uint8_t opcode, Register index, std::size_t offset) {
        byte(0x65), byte(opcode), byte(0x04), byte(static_cast<std::uint8_t>(0xc5 | (index << 3)));
        u32(static_cast<std::uint32_t>(offset));
    }
    void gs_byte_at(std::uint8_t opcode, unsigned operation, Register base, std::size_t offset) {
        byte(0x65);
        if (base >= r8) byte(0x41);
        byte(opcode), byte(static_cast<std::uint8_t>(0x80 | (operation << 3) | (base & 7)));
        u32(static_cast<std::uint32_t>(offset));
    }
    void gs32_at(std::uint8_t opcode, Register reg, Register base, std::size_t offset) {
        byte(0x65);
        if (reg >= r8 || base >= r8) byte(static_cast<std::uint8_t>(0x40 | (reg >= r8 ? 4 : 0) | (base >= r8 ? 1 : 0)));
        byte(opcode), byte(static_cast<std::uint8_t>(0x80 | ((reg & 7) << 3) | (base & 7)));
        u32(static_cast<std::uint32_t>(offset));
    }

    std::uint8_t* at_;
    std::uint8_t* end_;
    std::ptrdiff_t to_writable_;
    bool overflowed_ = false;
};

}  // namespace anyperf::engine::x86_64
