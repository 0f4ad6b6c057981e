// trace_stack.cpp: SDM volume 2 for the encodings.
#include "engine/x86_64/traces/trace_stack.h"

#include "engine/x86_64/cpu/registers.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::int64_t kWord = 8;
constexpr std::uint8_t kShortVex = 0xc5;
constexpr std::uint8_t kWide = 8;  // REX.W

bool has_rex_bit(const Instruction& instruction, const std::uint8_t* code, std::uint8_t bit) {
    return instruction.has_rex && (code[instruction.rex_offset] & bit) != 0;
}

/// ModRM.reg and ModRM.rm with their extensions.
unsigned reg_of(const Instruction& instruction, const std::uint8_t* code) {
    return (code[instruction.modrm_offset] >> 3 & 7u) | (has_rex_bit(instruction, code, 4) ? 8u : 0u);
}
unsigned rm_of(const Instruction& instruction, const std::uint8_t* code) {
    return (code[instruction.modrm_offset] & 7u) | (has_rex_bit(instruction, code, 1) ? 8u : 0u);
}
bool names_register(const Instruction& instruction, const std::uint8_t* code) {
    return (code[instruction.modrm_offset] & 0xc0) == 0xc0;
}

/// The base register of a memory operand that is one register and a displacement; 16: another operand.
unsigned base_of(const Instruction& instruction, const std::uint8_t* code) {
    constexpr unsigned kOther = 16;
    if (instruction.segment != Segment::none || instruction.rip_relative || instruction.address32) return kOther;
    if (instruction.has_vex && code[instruction.vex_offset] != kShortVex) return kOther;
    const std::uint8_t modrm = code[instruction.modrm_offset];
    if (instruction.sib_offset == 0) return rm_of(instruction, code);
    const std::uint8_t sib = code[instruction.sib_offset];
    const bool has_index = (sib >> 3 & 7) != 4 || has_rex_bit(instruction, code, 2);
    const bool has_no_base = (sib & 7) == 5 && modrm < 0x40;
    if (has_index || has_no_base) return kOther;
    return (sib & 7u) | (has_rex_bit(instruction, code, 1) ? 8u : 0u);
}

bool is_fence(const Instruction& instruction, const std::uint8_t* code) {
    return instruction.map == 1 && instruction.opcode == 0xae && names_register(instruction, code);
}

/// Whether it may write outside of its operand: a bit of a string of bits.
bool writes_bit(const Instruction& instruction) {
    return instruction.map == 1 &&
           (instruction.opcode == 0xab || instruction.opcode == 0xb3 || instruction.opcode == 0xbb);
}

}  // namespace

/// Nothing is known of rbp, of the words at the top of the stack, or of how far away they are.
void TraceStack::lose() {
    knows_rbp_ = false;
    for (std::size_t i = 0; i < depth_ && i < calls_.size(); ++i) calls_[i].unchanged = false;
}

void TraceStack::store(std::int64_t place, std::int64_t bytes) {
    for (std::size_t i = 0; i < depth_ && i < calls_.size(); ++i)
        if (place < calls_[i].place + kWord && place + bytes > calls_[i].place) calls_[i].unchanged = false;
}

void TraceStack::push() {
    rsp_ -= kWord;
    store(rsp_, kWord);
}

void TraceStack::call() {
    push();
    if (depth_ < calls_.size()) calls_[depth_] = {rsp_, true};
    ++depth_;
}

bool TraceStack::return_from_call(std::int64_t popped) {
    bool safe = false;
    if (depth_ != 0) {
        --depth_;
        safe = depth_ < calls_.size() && calls_[depth_].unchanged && calls_[depth_].place == rsp_;
    }
    rsp_ += kWord + popped;
    return safe;
}

void TraceStack::follow_operand_store(const Instruction& instruction, const std::uint8_t* code) {
    const bool is_plain = instruction.writes_operand && instruction.implied_bytes == 0 &&
                          instruction.modrm_offset != 0 && instruction.operand_bytes != 0 && !is_atomic(instruction) &&
                          !writes_bit(instruction);
    const unsigned base = is_plain ? base_of(instruction, code) : 16;
    if (base == rsp)
        store(rsp_ + instruction.displacement, instruction.operand_bytes);
    else if (base == rbp && knows_rbp_)
        store(rbp_ + instruction.displacement, instruction.operand_bytes);
    else
        lose();
}

/// Follows push and pop of 64 bits, and leave. False if it is another instruction.
bool TraceStack::pushes_or_pops(const Instruction& instruction, const std::uint8_t* code) {
    const std::uint8_t opcode = instruction.opcode;
    const unsigned low = opcode & 7u;
    const bool pushes_operand = opcode == 0xff && (code[instruction.modrm_offset] >> 3 & 7) == 6;
    if ((opcode & 0xf8) == 0x50 || opcode == 0x68 || opcode == 0x6a || pushes_operand) {
        push();
        return true;
    }
    if ((opcode & 0xf8) == 0x58) {
        const unsigned popped = low | (has_rex_bit(instruction, code, 1) ? 8u : 0u);
        if (popped == rsp) return false;
        if (popped == rbp) knows_rbp_ = false;
        rsp_ += kWord;
        return true;
    }
    if (opcode != 0xc9 || !knows_rbp_) return false;
    rsp_ = rbp_ + kWord;
    knows_rbp_ = false;
    return true;
}

/// Follows add, sub, lea and mov that set rsp or rbp to a known place. False if it is another instruction.
bool TraceStack::sets_stack(const Instruction& instruction, const std::uint8_t* code) {
    if (instruction.modrm_offset == 0 || !has_rex_bit(instruction, code, kWide)) return false;
    const std::uint8_t opcode = instruction.opcode;
    const unsigned reg = reg_of(instruction, code), rm = rm_of(instruction, code);
    if (opcode == 0x8d && reg == rsp) {  // lea
        const unsigned base = base_of(instruction, code);
        if (base != rsp && !(base == rbp && knows_rbp_)) return false;
        rsp_ = (base == rsp ? rsp_ : rbp_) + instruction.displacement;
        return true;
    }
    if (!names_register(instruction, code)) return false;
    if ((opcode == 0x81 || opcode == 0x83) && rm == rsp && ((reg & 7) == 0 || (reg & 7) == 5)) {  // add, sub
        const auto amount = static_cast<std::int64_t>(instruction.immediate);
        rsp_ += (reg & 7) == 0 ? amount : -amount;
        return true;
    }
    if (opcode != 0x89 && opcode != 0x8b) return false;  // mov
    const unsigned to = opcode == 0x89 ? rm : reg, from = opcode == 0x89 ? reg : rm;
    if (to == rbp && from == rsp) {
        rbp_ = rsp_;
        return knows_rbp_ = true;
    }
    if (to != rsp || from != rbp || !knows_rbp_) return false;
    rsp_ = rbp_;
    return true;
}

bool TraceStack::moves_stack(const Instruction& instruction, const std::uint8_t* code) {
    return instruction.map == 0 && !instruction.has_vex && !instruction.operand16 &&
           (pushes_or_pops(instruction, code) || sets_stack(instruction, code));
}

bool TraceStack::follow(const Instruction& instruction, const std::uint8_t* code) {
    if (is_call(instruction)) {
        call();
        return false;
    }
    if (instruction.control == Control::ret) return return_from_call(static_cast<std::int64_t>(instruction.immediate));
    if (instruction.control != Control::none || moves_stack(instruction, code)) return false;
    if ((instruction.written >> rsp & 1) != 0 || is_fence(instruction, code)) lose();
    if ((instruction.written >> rbp & 1) != 0) knows_rbp_ = false;
    if (instruction.writes_memory) follow_operand_store(instruction, code);
    return false;
}

}  // namespace anyperf::engine::x86_64
