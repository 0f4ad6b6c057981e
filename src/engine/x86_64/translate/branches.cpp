// branches.cpp: how control leaves a block.
//
// - Direct branches, conditional or not, become exits. An exit is a jump with a rel32 operand that can be linked: it
//   leads to a stub until the target is translated, and to the target's block afterwards (indirect_entry.h). A
//   conditional branch keeps its jcc, and the operand of that is the link.
// - Indirect branches spill two registers, load the target and jump through the table of indirect entries
//   (indirect_entry.h). A call pushes the application's return address first, so that the stack looks as on the CPU; a
//   return pops it.
// - Instructions that the engine executes leave the block with ExitReason::emulate. The exit after them is not linked:
//   the engine continues there when it is done.
//
// No code here changes a flag that may still be read. Faults: everything that can fault, the operand of an indirect
// branch and the push of a call, comes before the application's registers change, and Mark::spilled names the borrowed
// ones.
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

/// A record for an exit of this block to the application address `target`; 0 if no record is left. The records of a
/// block have consecutive numbers, beginning with Block::first_exit.
ExitId Translation::new_exit(std::uint64_t target, bool makes_step) {
    const ExitId id = cache_.exits.allocate();
    if (id == 0) {
        out_of_records_ = true;
        return 0;
    }
    Exit& exit = cache_.exits[id];
    exit = {};
    exit.from = id_ & (Cache::kMaximumBlocks - 1);
    exit.set_target(target);
    exit.steps = makes_step ? 1 : 0;
    if (block_->first_exit == 0) block_->first_exit = id;
    ++block_->exits;
    return id;
}

//   65 c7 04 25 PAYLOAD_FIELD PAYLOAD    mov  $PAYLOAD, %gs:exit_payload
//   e9 ROUTINE                           jmp  exit jump of the reason
void emit_exit_to_engine(Emitter& code, const Arena& arena, ExitReason reason, std::uint32_t payload) {
    std::uint8_t bytes[kExitToEngineBytes];
    write_exit_to_engine(bytes, code.at(), exit_jump_of(arena, reason), payload);
    code.bytes(bytes, sizeof bytes);
}

/// Stores the payload and jumps to the exit routine of `reason`.
void Translation::emit_exit(Emitter& code, ExitReason reason, std::uint32_t payload) {
    emit_exit_to_engine(code, arena_, reason, payload);
    if (relocations_ == nullptr) return;
    constexpr std::uint32_t kSegmentBits = (1u << (kFirstBits + kLaneBits)) - 1;
    const std::uint8_t* const start = code.at() - kExitToEngineBytes;
    if (reason == ExitReason::budget)
        relocate(code, RelocationKind::segment, start + kExitPayloadAt, payload & kSegmentBits);
    else if (reason == ExitReason::hot)
        relocate(code, RelocationKind::block, start + kExitPayloadAt, 0);
    else
        relocate(code, RelocationKind::exit, start + kExitPayloadAt, payload - block_->first_exit);
    relocate(code, RelocationKind::to_exit_jump, start + kExitJumpAt, static_cast<std::uint64_t>(reason));
}

std::uint8_t* Translation::exit_stub(ExitReason reason, std::uint32_t payload) {
    std::uint8_t* const stub = cold_.at();
    emit_exit(cold_, reason, payload);
    return stub;
}

/// Writes the stub of an exit, which reports ExitReason::unlinked_exit, and returns its address. `operand`: the address
/// at which the caller writes the exit's rel32.
const std::uint8_t* Translation::unlinked_stub(ExitId id, const std::uint8_t* operand) {
    const std::uint8_t* const stub = cold_.at();
    emit_exit_to_engine(cold_, arena_, ExitReason::unlinked_exit, id);
    Exit& exit = cache_.exits[id];
    exit.operand = static_cast<std::uint16_t>(operand - block_->host);
    exit.stub = static_cast<std::int32_t>(stub - operand);
    return stub;
}

/// Pads with a nop, so that the rel32 after `opcode_bytes` does not cross an 8-byte boundary: it is patched by one
/// aligned store while other threads execute it (patch() in cache/cache.cpp).
void Translation::align_operand(std::size_t opcode_bytes) {
    const std::uint64_t operand = address_of(hot_.at()) + opcode_bytes;
    if (operand % 8 > 4) hot_.nop(8 - operand % 8);
}

void Translation::emit_direct_exit(std::uint64_t target, bool makes_step) {
    const ExitId id = new_exit(target, makes_step);
    if (id == 0) return;
    align_operand(1);
    hot_.jmp(unlinked_stub(id, hot_.at() + 1));
}

void Translation::emit_emulated(const Instruction& instruction, std::uint64_t next) {
    const ExitId id = new_exit(next);
    if (id == 0) return;
    cache_.exits[id].set_emulated_instruction(instruction);
    emit_exit(hot_, ExitReason::emulate, id);
}

/// The instruction stores the address of the last x87 instruction, which is a host address. The engine replaces it
/// after each execution (engine/x86_64/x87_pointer.h), so this exit has no operand and is never linked.
void Translation::emit_x87_state(const Instruction& instruction, std::uint64_t address) {
    emit_plain(instruction, address);
    const ExitId id = new_exit(address + instruction.length);
    if (id == 0) return;
    cache_.exits[id].set_emulated_instruction(instruction);
    const std::uint8_t* const stub = exit_stub(ExitReason::unlinked_exit, id);
    hot_.jmp(stub);
    relocate_to_cold(stub);
}

/// Emits the taken way of a conditional branch; the way not taken continues after it. If the taken way is counted or
/// recorded, jcc with the inverse condition skips the code for it:
///
///   jcc  STUB                                    linked later: leads to the target's block then
/// or
///   jncc OVER      count, record, predict      jmp STUB      OVER:      predict
void Translation::emit_side_exit(const Instruction& instruction, std::uint64_t address) {
    const std::uint64_t target = branch_target(instruction, address);
    const auto condition = static_cast<std::uint8_t>(instruction.opcode & 15);
    const bool records_it = records(branch::kConditional);
    if ((counting_.open & bit(Class::taken)) != 0 || records_it || counting_.predicting) {
        const std::uint64_t next = address + instruction.length;
        std::uint8_t* const not_taken = hot_.jcc_far_forward(condition ^ 1);
        emit_taken_count(target);
        record_direct(branch::kConditional, address, target);
        predict_conditional(address, target, target != next);
        emit_loop(target);
        end_history();
        emit_direct_exit(target, target <= address);
        hot_.bind_far(not_taken);
        const auto index = static_cast<std::size_t>(&instruction - decoded_.instructions.data());
        const bool is_last = index + 1 == decoded_.count;
        predict_conditional(address, next, false, is_last ? DecodedTail{} : DecodedTail{&decoded_, index + 1});
        end_history();
    } else {
        const ExitId id = new_exit(target, target <= address);
        if (id == 0) return;
        align_operand(2);
        hot_.jcc(static_cast<Condition>(condition), unlinked_stub(id, hot_.at() + 2));
    }
}

void Translation::emit_conditional(const Instruction& instruction, std::uint64_t address) {
    emit_side_exit(instruction, address);
    emit_direct_exit(address + instruction.length);
}

void Translation::emit_rcx_branch(const Instruction& instruction, std::uint64_t address) {
    // loop and jrcxz have 8-bit displacements only: the copied instruction jumps over the exit of the way not taken.
    const std::uint8_t* const code = bytes_at(address);
    hot_.bytes(code, instruction.opcode_offset + 1u);
    std::uint8_t* const taken = hot_.at();
    hot_.byte(0);
    // The longest prediction and exit take 100 bytes.
    const std::uint64_t next = address + instruction.length;
    const std::uint64_t target = branch_target(instruction, address);
    predict_conditional(address, next, false);
    end_history();
    emit_direct_exit(next);
    hot_.bind(taken);
    emit_taken_count(target);
    record_direct(branch::kConditional, address, target);
    predict_conditional(address, target, target != next);
    end_history();
    emit_direct_exit(target, target <= address);
}

void Translation::emit_jump(const Instruction& instruction, std::uint64_t address) {
    const std::uint64_t target = branch_target(instruction, address);
    record_direct(branch::kJump, address, target);
    emit_loop(target);
    end_history();
    emit_direct_exit(target, target <= address);
}

/// Pushes a return address without a register or a flag. push imm32 sign-extends, so it serves addresses below 2 GiB.
void Translation::push_constant(std::uint64_t value) {
    if (value < (std::uint64_t{1} << 31)) {
        hot_.push_immediate(static_cast<std::int32_t>(value));
        relocate_last(hot_, RelocationKind::address32, value - block_->pc);
        return;
    }
    // push [rip + constant]: one store of 8 bytes. Two stores of 4 bytes would not be forwarded to the 8-byte load of
    // the return, which would stall.
    while (address_of(cold_.at()) % sizeof value != 0) cold_.byte(0);
    const std::uint8_t* const constant = cold_.at();
    cold_.u64(value);
    relocate(cold_, RelocationKind::address, constant, value - block_->pc);
    hot_.byte(0xff), hot_.byte(0x35), hot_.relative(constant);
    relocate_to_cold(constant);
}

void Translation::emit_call(const Instruction& instruction, std::uint64_t address) {
    if (pairs_call_to(instruction, address + instruction.length)) {
        emit_paired_call(instruction, address);
        return emit_direct_exit(address + instruction.length);
    }
    const std::uint64_t target = branch_target(instruction, address);
    note_direct_call(address + instruction.length, target, false);
    push_constant(address + instruction.length);
    predict_call(address + instruction.length);
    record_direct(branch::kCall, address, target);
    emit_direct_exit(target, target <= address);
}

/// Jumps to the application address in kTargetRegister; both registers of an indirect branch are spilled. A block of a
/// single instruction always returns to the engine, which has to report that the instruction has been executed; so does
/// the leg of a path.
///
///   movzx r11d, cx;  jmp [TABLE + 8 * r11]
void Translation::emit_indirect_lookup() {
    if (single_instruction_ || path_leg_)
        return hot_.jmp_gs(offsetof(Thread, exit_routine) + 8 * static_cast<std::size_t>(ExitReason::lookup_miss));
    hot_.movzx16(kScratchRegister, kTargetRegister);
    hot_.jmp_table(static_cast<std::uint32_t>(address_of(cache_.indirect_table())), kScratchRegister);
    relocate_last(hot_, RelocationKind::table, 0);
}

/// An indirect jump or call. It may fault at the load and at the push; no register of the application has changed then,
/// and both spill slots are valid.
///
///   spill rcx, r11
///   rcx = OPERAND                a mov, or several instructions for a gs or a far operand (load_operand)
///   push RETURN                  of a call only
///   movzx r11d, cx;  jmp [TABLE + 8 * r11]
void Translation::emit_indirect(const Instruction& instruction, std::uint64_t address) {
    const bool calls = instruction.control == Control::call_indirect;
    if (calls && pairs_call_to(instruction, address + instruction.length)) {
        emit_paired_call(instruction, address);
        return emit_direct_exit(address + instruction.length);
    }
    spill(kTargetRegister);
    spill(kScratchRegister);
    spilled_ = kTargetRegister | kScratchRegister << 4;
    load_operand(instruction, address, kTargetRegister);
    if (calls && records(branch::kOpenCalls)) append_open_call(address + instruction.length, kScratchRegister);
    if (calls) push_constant(address + instruction.length);
    const std::uint8_t kind = calls ? branch::kIndirectCall : branch::kIndirectJump;
    record_indirect(kind, address);
    if (calls && counting_.predicting) push_predicted_return(kScratchRegister, address + instruction.length);
    predict_indirect(address, kind);
    std::uint8_t* const full = counts_target(instruction) ? emit_exact_call() : nullptr;
    emit_indirect_lookup();
    if (full != nullptr) finish_exact_call(full);
}

void Translation::pop_return_address(const Instruction& instruction) {
    hot_.pop(kTargetRegister);
    if (instruction.immediate_bytes != 0) hot_.lea(rsp, rsp, static_cast<std::int32_t>(instruction.immediate & 0xffff));
}

/// A return: as an indirect jump, with pop rcx for the load of the target, and for `ret N` lea N(rsp), rsp. Only the
/// pop may fault, and rsp has not changed then.
void Translation::emit_ret(const Instruction& instruction, std::uint64_t address) {
    if (pairs() && instruction.immediate_bytes == 0) return emit_paired_return();
    spill(kTargetRegister);
    spill(kScratchRegister);
    spilled_ = kTargetRegister | kScratchRegister << 4;
    std::uint8_t* const unmatched = records(branch::kOpenCalls) ? remove_open_call() : nullptr;
    pop_return_address(instruction);
    record_indirect(branch::kReturn, address);
    predict_return();
    emit_indirect_lookup();
    if (unmatched != nullptr) emit_unmatched_return(instruction, address, unmatched);
}

namespace {

/// push gs and mov from gs read the selector. The engine changes the base of gs only, so they run as they are.
bool reads_selector(const Instruction& instruction) {
    constexpr std::uint8_t kPushGs = 0xa8;
    constexpr std::uint8_t kMovFromSegment = 0x8c;
    return instruction.control == Control::segment_base &&
           ((instruction.map == 1 && instruction.opcode == kPushGs) ||
            (instruction.map == 0 && instruction.opcode == kMovFromSegment));
}

}  // namespace

void Translation::emit_block_end(const Instruction& instruction, std::uint64_t address) {
    if (reads_selector(instruction)) {
        emit_plain(instruction, address);
        return emit_direct_exit(address + instruction.length);
    }
    switch (instruction.control) {
        case Control::conditional: return emit_conditional(instruction, address);
        case Control::rcx_branch: return emit_rcx_branch(instruction, address);
        case Control::jump: return emit_jump(instruction, address);
        case Control::call: return emit_call(instruction, address);
        case Control::jump_indirect:
        case Control::call_indirect: return emit_indirect(instruction, address);
        case Control::ret: return emit_ret(instruction, address);
        case Control::none:
        case Control::xgetbv: emit_plain(instruction, address); return emit_direct_exit(address + instruction.length);
        case Control::random:
        case Control::rdtsc:
            if (cache_.deterministic || (cache_.presented.emulates_rdtscp && is_rdtscp(instruction)))
                return emit_emulated(instruction, address + instruction.length);
            emit_plain(instruction, address);
            return emit_direct_exit(address + instruction.length);
        case Control::rdpmc: return emit_rdpmc(instruction, address + instruction.length);
        case Control::x87_state: return emit_x87_state(instruction, address);
        default: return emit_emulated(instruction, address + instruction.length);
    }
}

}  // namespace anyperf::engine::x86_64
