// branches.cpp: how blocks end. Direct exits are jumps that lead to a stub until their target is translated; indirect
// ones go through the table by the low 16 bits of their target, to a landing that checks the rest. None of it touches a
// flag.
#include "engine/x86_64/landing.h"
#include "engine/x86_64/routines.h"
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

ExitId Translation::new_exit(std::uint64_t target) {
    const ExitId id = cache_.exits.take();
    if (id == 0) {
        out_of_records_ = true;
        return 0;
    }
    Exit& exit = cache_.exits[id];
    exit = {};
    exit.from = id_ & (Cache::kMaximumBlocks - 1);
    exit.lead_to(target);
    if (block_->first_exit == 0) block_->first_exit = id;
    ++block_->exits;
    return id;
}

void Translation::leave(Emitter& code, Leave reason, std::uint32_t payload) {
    code.mov_gs32(offsetof(Thread, payload), payload);
    code.jmp(way_out_of(arena_, reason));
}

std::uint8_t* Translation::leave_stub(Leave reason, std::uint32_t payload) {
    std::uint8_t* const stub = cold_.at();
    leave(cold_, reason, payload);
    return stub;
}

/// Where the exit leads while it is unlinked. Its operand stands, or will, at `operand`.
const std::uint8_t* Translation::link_stub(ExitId id, const std::uint8_t* operand) {
    const std::uint8_t* const stub = leave_stub(Leave::link, id);
    Exit& exit = cache_.exits[id];
    exit.operand = static_cast<std::uint16_t>(operand - block_->host);
    exit.stub = static_cast<std::int32_t>(stub - operand);
    return stub;
}

void Translation::align_operand(std::size_t opcode_bytes) {
    const std::uint64_t operand = address_of(hot_.at()) + opcode_bytes;
    if (operand % 8 > 4) hot_.nop(8 - operand % 8);
}

void Translation::emit_jump_to(std::uint64_t target) {
    const ExitId id = new_exit(target);
    if (id == 0) return;
    align_operand(1);
    hot_.jmp(link_stub(id, hot_.at() + 1));
}

void Translation::emit_step(const Instruction& instruction, std::uint64_t next) {
    const ExitId id = new_exit(next);
    if (id == 0) return;
    cache_.exits[id].stop_behind(instruction);
    leave(hot_, Leave::step, id);
}

/// Behind it the engine has something to mend, so that the exit is never linked.
void Translation::emit_x87_state(const Instruction& instruction, std::uint64_t address) {
    emit_plain(instruction, address);
    const ExitId id = new_exit(address + instruction.length);
    if (id == 0) return;
    cache_.exits[id].stop_behind(instruction);
    hot_.jmp(leave_stub(Leave::link, id));
}

void Translation::emit_way_out(const Instruction& instruction, std::uint64_t address) {
    const std::uint64_t target = branch_target(instruction, address);
    const auto condition = static_cast<std::uint8_t>(instruction.opcode & 15);
    const bool records_it = records(branch::kConditional);
    if ((counting_.open & bit(Class::taken)) != 0 || records_it) {
        std::uint8_t* const not_taken = hot_.jcc_far_forward(condition ^ 1);
        emit_taken(target);
        record_direct(branch::kConditional, address, target);
        emit_jump_to(target);
        hot_.land_far(not_taken);
    } else {
        const ExitId id = new_exit(target);
        if (id == 0) return;
        align_operand(2);
        hot_.jcc(static_cast<Condition>(condition), link_stub(id, hot_.at() + 2));
    }
}

void Translation::emit_conditional(const Instruction& instruction, std::uint64_t address) {
    emit_way_out(instruction, address);
    emit_jump_to(address + instruction.length);
}

void Translation::emit_counted(const Instruction& instruction, std::uint64_t address) {
    // loop, jrcxz: there is only the short form, so it jumps over the way not taken.
    const std::uint8_t* const code = bytes_at(address);
    hot_.bytes(code, instruction.opcode_offset + 1u);
    std::uint8_t* const taken = hot_.at();
    hot_.byte(0);
    emit_jump_to(address + instruction.length);
    hot_.land(taken);
    emit_taken(branch_target(instruction, address));
    record_direct(branch::kConditional, address, branch_target(instruction, address));
    emit_jump_to(branch_target(instruction, address));
}

void Translation::emit_jump(const Instruction& instruction, std::uint64_t address) {
    record_direct(branch::kJump, address, branch_target(instruction, address));
    emit_jump_to(branch_target(instruction, address));
}

void Translation::push_constant(std::uint64_t value) {
    if (value < (std::uint64_t{1} << 31)) {
        hot_.push_immediate(static_cast<std::int32_t>(value));
        return;
    }
    // One load and one store, like the call's own: two halves would stall the return that reads them as one.
    while (address_of(cold_.at()) % sizeof value != 0) cold_.byte(0);
    const std::uint8_t* const constant = cold_.at();
    cold_.u64(value);
    hot_.byte(0xff), hot_.byte(0x35), hot_.relative(constant);
}

void Translation::emit_call(const Instruction& instruction, std::uint64_t address) {
    push_constant(address + instruction.length);
    record_direct(branch::kCall, address, branch_target(instruction, address));
    emit_jump_to(branch_target(instruction, address));
}

void Translation::emit_table_jump() {
    if (alone_) return hot_.jmp_gs(offsetof(Thread, leave_routine) + 8 * static_cast<std::size_t>(Leave::table_empty));
    hot_.movzx16(kOther, kTarget);
    hot_.jmp_table(static_cast<std::uint32_t>(address_of(cache_.table())), kOther);
}

void Translation::emit_indirect(const Instruction& instruction, std::uint64_t address) {
    spill(kTarget);
    spill(kOther);
    spilled_ = kTarget | kOther << 4;
    load_operand(instruction, address, kTarget);
    const bool calls = instruction.control == Control::call_indirect;
    if (calls) push_constant(address + instruction.length);
    record_indirect(calls ? branch::kIndirectCall : branch::kIndirectJump, address);
    emit_table_jump();
}

void Translation::emit_ret(const Instruction& instruction, std::uint64_t address) {
    spill(kTarget);
    spill(kOther);
    spilled_ = kTarget | kOther << 4;
    hot_.pop(kTarget);
    if (instruction.immediate_bytes != 0) hot_.lea(rsp, rsp, static_cast<std::int32_t>(instruction.immediate & 0xffff));
    record_indirect(branch::kReturn, address);
    emit_table_jump();
}

namespace {

/// push gs, mov from gs: the selector, which the engine leaves as it is, unlike the base.
bool reads_selector(const Instruction& instruction) {
    constexpr std::uint8_t kPushGs = 0xa8;
    constexpr std::uint8_t kMovFromSegment = 0x8c;
    return instruction.control == Control::segment_base &&
           ((instruction.map == 1 && instruction.opcode == kPushGs) ||
            (instruction.map == 0 && instruction.opcode == kMovFromSegment));
}

}  // namespace

void Translation::emit_end(const Instruction& instruction, std::uint64_t address) {
    if (reads_selector(instruction)) {
        emit_plain(instruction, address);
        return emit_jump_to(address + instruction.length);
    }
    switch (instruction.control) {
        case Control::conditional: return emit_conditional(instruction, address);
        case Control::counted: return emit_counted(instruction, address);
        case Control::jump: return emit_jump(instruction, address);
        case Control::call: return emit_call(instruction, address);
        case Control::jump_indirect:
        case Control::call_indirect: return emit_indirect(instruction, address);
        case Control::ret: return emit_ret(instruction, address);
        case Control::none:
        case Control::xgetbv:
        case Control::rdtsc: emit_plain(instruction, address); return emit_jump_to(address + instruction.length);
        case Control::x87_state: return emit_x87_state(instruction, address);
        default: return emit_step(instruction, address + instruction.length);
    }
}

}  // namespace anyperf::engine::x86_64
