// trace.cpp: traces. A trace is a block that follows the path that a thread has taken: through conditional branches in
// the direction that they went, direct jumps and calls, and returns whose call is in the trace. Its code is in several
// pieces of the application's (TracePiece). engine/traces.h says which paths become traces, and when.
//
// What a branch in a trace becomes; its target follows:
//
//   jcc, not taken        jcc  EXIT                                  a side exit, as in any block
//   jcc, taken            jncc EXIT        count the taken branch    the exit leads to the way not taken
//   jmp                   nop                                        so that it has a place of its own
//   call                  push RETURN
//   ret                   mov  rcx, %gs:SPILL     mov  r11, %gs:SPILL     pop  rcx     and the check of the target
//   jmp, call *WORD(rip)  mov  rcx, %gs:SPILL     mov  r11, %gs:SPILL     mov  WORD(rip), rcx
//                         push RETURN, of a call                          and the check of the target
//
//   the check:  mov  $-EXPECTED, r11     lea  (rcx,r11), rcx     jrcxz OK     jmp OTHER
//          OK:  mov  %gs:SPILL, rcx      mov  %gs:SPILL, r11
//       OTHER:  mov  $EXPECTED, r11      lea  (rcx,r11), rcx                in the cold part: rcx is the target again
//               movzx cx, r11d           jmp  *TABLE(,r11,8)                as of any indirect branch
//
// No flag changes. Each segment counts itself by its prologue, as in a block, so a trace that is left at any point has
// counted what has run, and the marks say what to take back in the middle of a segment.
//
// Faults: the push of a call, the pop of a return, and the load and push of an indirect branch fault as in
// branches.cpp, before a register of the application has changed but those in Mark::spilled. Nothing else here faults.
//
// A block that may become the head of a trace begins by counting its executions, if its first segment overwrites the
// flags:
//
//   66 65 83 04 25 HEAT STEP     add  $STEP, %gs:HEAT                16 bits; they run over after 65,536 / STEP times
//   0f 82 EXIT                   jc   EXIT                           ExitReason::hot, before anything is counted
//
// The word is the thread's, by the low bits of the block's number. Blocks that share one become hot a little early.
#include <algorithm>

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

void Translation::emit_heat() {
    if (cache_.heat == 0 || block_->limit != 0 || is_trace() || relocations_ != nullptr || counting_.budgeted ||
        cache_.pairs_returns || decoded_.count == 0 || !is_plain())
        return;
    // No code beyond the block is decoded for this: most blocks are never hot.
    constexpr unsigned kNoBranch = 0;
    if (!flags_are_dead(cache_.executable, decoded_.pc, kNoBranch, {&decoded_, 0})) return;
    hot_.add_gs16(offsetof(Thread, heat) + sizeof(std::uint16_t) * (id_ % kHeatWords), cache_.heat);
    hot_.jcc(Condition::below, exit_stub(ExitReason::hot, id_));
}

/// Appends the instructions from `pc` up to the first branch. False, with nothing appended, if there is no room for
/// them or the trace must not go there.
bool Translation::decode_step(std::uint64_t pc) {
    const bool contiguous = decoded_.count != 0 && pc == decoded_.end;
    if (!contiguous && piece_count_ == kMostPieces - 1) return false;
    const std::size_t first = decoded_.count;
    std::uint64_t address = pc;
    for (bool ended = false; !ended; ++decoded_.count) {
        Instruction instruction;
        const std::uint64_t readable = cache_.executable.bytes_from(address);
        if (decoded_.count == kLongestBlock || instrumentation_.holds(address) || readable == 0 ||
            decode(at_address<const std::uint8_t>(address), readable, instruction) != DecodeStatus::ok) {
            decoded_.count = first;
            return false;
        }
        present(instruction, cache_.presented);
        decoded_.instructions[decoded_.count] = instruction;
        address += instruction.length;
        ended = instruction.control != Control::none;
    }
    if (!contiguous) {
        pieces_[piece_count_].first = first & TracePiece::kEnd;
        pieces_[piece_count_++].signed_pc = static_cast<std::int64_t>(pc << 7) >> 7;
    }
    decoded_.end = address;
    return true;
}

/// Whether the trace goes on at `next` after its last instruction, a branch at `address`.
bool Translation::continues_to(std::uint64_t address, std::uint64_t next) {
    const Instruction& branch = decoded_.instructions[decoded_.count - 1];
    const std::uint64_t after = address + branch.length;
    const bool by_word =
        branch.rip_relative && branch.segment == Segment::none && !instrumentation_.targets.holds(next);
    switch (branch.control) {
        case Control::conditional: {
            const std::uint64_t target = branch_target(branch, address);
            return target != after && (next == target || next == after);
        }
        case Control::jump: return next == branch_target(branch, address);
        case Control::call:
        case Control::call_indirect:
            if (branch.control == Control::call ? next != branch_target(branch, address) : !by_word) return false;
            if (depth_ == returns_.size()) return false;
            returns_[depth_++] = after;
            return true;
        case Control::ret: return depth_ != 0 && next == returns_[--depth_] && !instrumentation_.targets.holds(next);
        case Control::jump_indirect: return by_word;
        default: return false;
    }
}

void Translation::decode_path(const TracePath& path) {
    decoded_.pc = code_.pc = path.pc[0];
    code_.at = at_address<const std::uint8_t>(path.pc[0]);
    decoded_.count = 0;
    for (std::size_t i = 0; i < path.count && decode_step(path.pc[i]); ++i) {
        const std::uint64_t branch = decoded_.end - decoded_.instructions[decoded_.count - 1].length;
        if (i + 1 == path.count || !continues_to(branch, path.pc[i + 1])) break;
    }
}

bool Translation::begin_trace(const TracePath& path) {
    decode_path(path);
    if (decoded_.count == 0 || !is_plain()) return false;
    if (counts_cost()) compute_costs();
    id_ = cache_.blocks.allocate();
    const std::uint32_t marks = cache_.marks.allocate(static_cast<std::uint32_t>(decoded_.count + piece_count_ + 2));
    if (id_ == 0 || marks == 0) return false;
    block_ = &cache_.blocks[id_];
    *block_ = {};
    block_->pc = code_.pc;
    block_->trace = true;
    block_->marks = &cache_.marks[marks];
    block_->instructions = static_cast<std::uint8_t>(decoded_.count);
    for (std::size_t i = 0; i < decoded_.count; ++i)
        block_->guest_bytes = static_cast<std::uint16_t>(block_->guest_bytes + decoded_.instructions[i].length);
    std::copy(pieces_.data(), pieces_.data() + piece_count_, block_->pieces());
    block_->pieces()[piece_count_].first = TracePiece::kEnd;
    return true;
}

Block* Translation::run_trace(const TracePath& path, bool indirect_entry) {
    return begin_trace(path) ? emit_block(indirect_entry) : nullptr;
}

/// Emits a branch after which the trace goes on, at `next`.
void Translation::emit_trace_branch(const Instruction& instruction, std::uint64_t address, std::uint64_t next) {
    switch (instruction.control) {
        case Control::conditional:
            if (next == address + instruction.length) return emit_side_exit(instruction, address);
            return emit_taken_branch(instruction, address, next);
        case Control::jump: return hot_.nop(1);
        case Control::call: return push_constant(address + instruction.length);
        case Control::ret:
        case Control::jump_indirect:
        case Control::call_indirect: return emit_indirect_branch(instruction, address, next);
        default: return;
    }
}

void Translation::emit_taken_branch(const Instruction& instruction, std::uint64_t address, std::uint64_t next) {
    const ExitId id = new_exit(address + instruction.length);
    if (id == 0) return;
    align_operand(2);
    hot_.jcc(static_cast<Condition>((instruction.opcode & 15) ^ 1), unlinked_stub(id, hot_.at() + 2));
    emit_taken_count(next);
}

void Translation::emit_indirect_branch(const Instruction& instruction, std::uint64_t address, std::uint64_t next) {
    spill(kTargetRegister);
    spill(kScratchRegister);
    spilled_ = kTargetRegister | kScratchRegister << 4;
    if (instruction.control == Control::ret)
        pop_return_address(instruction);
    else
        load_operand(instruction, address, kTargetRegister);
    if (is_call(instruction)) push_constant(address + instruction.length);
    emit_target_check(next);
}

/// Goes on if kTargetRegister has the expected address of the application; else to where that leads.
void Translation::emit_target_check(std::uint64_t expected) {
    hot_.mov(kScratchRegister, -expected);
    hot_.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister);
    std::uint8_t* const same = hot_.jrcxz_forward();
    hot_.jmp(cold_.at());
    hot_.bind(same);
    unspill(kTargetRegister);
    unspill(kScratchRegister);
    cold_.mov(kScratchRegister, expected);
    cold_.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister);
    cold_.movzx16(kScratchRegister, kTargetRegister);
    cold_.jmp_table(static_cast<std::uint32_t>(address_of(cache_.indirect_table())), kScratchRegister);
}

}  // namespace anyperf::engine::x86_64
