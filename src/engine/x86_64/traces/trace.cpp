// trace.cpp: traces. A trace is a block that follows the path that a thread has taken: through conditional branches in
// the direction that they went, direct jumps and calls, and returns whose call is in the trace. Its code is in several
// pieces of the application's (TracePiece). engine/traces.h says which paths become traces, and when.
//
// What a branch in a trace becomes; its target follows:
//
//   jcc, not taken        jcc  EXIT                  to its target
//   jcc, taken            jncc EXIT                  to the way not taken
//   jmp                   nop                        so that it has a place of its own
//   call                  push RETURN
//   ret                   lea  8(rsp), rsp           if nothing can have changed the return address (trace_stack.h)
//   other ret             the check, with `mov (rsp), rcx` for the load; lea 8(rsp), rsp
//   jmp, call *OPERAND    the check; push RETURN, of a call
//
//   the check:  mov  rcx, %gs:SPILL     mov  r11, %gs:SPILL     mov  OPERAND, rcx
//               mov  $-EXPECTED, r11    lea  (rcx,r11), rcx     jrcxz OK
//               mov  %gs:SPILL, rcx     mov  %gs:SPILL, r11     jmp  EXIT         to the branch itself
//          OK:  mov  %gs:SPILL, rcx     mov  %gs:SPILL, r11
//
// No flag changes: whatever the branch leads to may read them. A check that fails leads to a block that begins with the
// branch. So a trace does not begin with such a branch: it would lead to itself.
//
// A trace is counted as one segment, by the prologue at its start, with the branches that are taken on the path. An
// exit takes back what has not run (trace_exits.cpp); so do the marks, as in any segment, when a thread is stopped.
//
// While the thread's open calls are noted (note_calls.cpp), a call notes itself in front of its push. A return that
// needs a check also leaves by EXIT if it is not of the newest call; of one that needs none, the newest call is its
// own.
//
// Faults: the push of a call and the load of a check fault as in branches.cpp, before a register of the application has
// changed but those in Mark::spilled. Nothing else here faults.
//
// A block that may become the head of a trace begins by counting its executions, if its first segment overwrites the
// flags. It is one that was first met by a branch that goes back, or by an indirect branch; in tests any block.
//
//   66 65 83 04 25 HEAT STEP     add  $STEP, %gs:HEAT                16 bits; they run over after 65,536 / STEP times
//   0f 82 EXIT                   jc   EXIT                           ExitReason::hot, before anything is counted
//
// The word is the thread's, by the low bits of the block's number. Blocks that share one become hot a little early.
// Branches that go forward or back to the same block are linked to what follows this code (Cache::passes_heat).
#include <algorithm>
#include <limits>

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/traces/trace_stack.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/predict.h"
#include "engine/x86_64/translate/steps.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

/// Of a program's first blocks, those that may count their executions. A large program would pay for its counters more
/// than traces bring it (docs/engine.md, "Traces").
constexpr BlockId kMostBlocksThatCount = 8192;

}  // namespace

void Translation::emit_heat() {
    if (cache_.heat == 0 || !(counts_executions_ || cache_.heat < 0) || block_->limit != 0 || is_trace() ||
        cache_.pairs_returns || decoded_.count == 0 || !can_be_traced())
        return;
    if (id_ > kMostBlocksThatCount && cache_.heat > 0) return;
    // No code beyond the block is decoded for this: most blocks are never hot.
    constexpr unsigned kNoBranch = 0;
    if (!flags_are_dead(cache_.executable, decoded_.pc, kNoBranch, {&decoded_, 0})) return;
    block_->counts_executions = true;
    hot_.add_gs16(heat_offset(id_), cache_.heat);
    relocate(hot_, RelocationKind::heat, hot_.at() - 5, 0);  // the step follows
    const std::uint8_t* const stub = exit_stub(ExitReason::hot, id_);
    hot_.jcc(Condition::below, stub);
    relocate_to_cold(stub);
}

/// How many steps the trace's branches make from that of `index` on, on the trace's path.
std::size_t Translation::steps_from(std::size_t index) const {
    if (!cache_.charges_steps) return 0;
    std::size_t steps = 0;
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i + 1 < decoded_.count; ++i) {
        const std::uint64_t next = address_after(i, address);
        if (i >= index && makes_step(counted_in_advance(i), address, next)) ++steps;
        address = next;
    }
    return steps;
}

void Translation::emit_steps_of_trace() {
    const std::size_t steps = is_trace() ? steps_from(0) : 0;
    if (steps == 0) return;
    block_->charges_steps = 1;
    const bool flags_dead = flags_are_dead(cache_.executable, decoded_.pc, kFlagDepth);
    emit_step_charge(hot_, cold_, arena_, id_ | kShort, steps, flags_dead);
}

/// Appends the instructions from `pc` up to the first branch. False, with nothing appended, if there is no room for
/// them or the trace must not go there.
bool Translation::decode_step(std::uint64_t pc) {
    const bool contiguous = decoded_.count != 0 && pc == decoded_.end;
    if (!contiguous && piece_count_ == kMostPieces - 1) return false;
    // Exits to blocks in another arena can't be linked: each would come to the engine.
    const Block* const known = cache_.find(pc, kPathLeg);
    if (known != nullptr && !arena_.holds(address_of(known->host))) return false;
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

/// How many calls of a trace may be open: a return in the trace is always predicted right.
std::size_t Translation::most_calls() const {
    const std::size_t predicted = counting_.machine->branches.return_entries;
    return counting_.predicting ? std::min(predicted, returns_.size()) : returns_.size();
}

/// Whether the trace goes on at `next` after its last instruction, a branch at `address`.
bool Translation::continues_to(std::uint64_t address, std::uint64_t next) {
    const Instruction& branch = decoded_.instructions[decoded_.count - 1];
    const std::uint64_t after = address + branch.length;
    // Words at a fixed address rarely change. What another operand leads to does: a wrong guess costs more than a right
    // one gains (docs/engine.md, "Traces").
    const bool can_check = branch.rip_relative && branch.segment == Segment::none && decoded_.count > 1 &&
                           !instrumentation_.targets.holds(next) && !(cache_.charges_steps && follows_call(next));
    if (branch.control == Control::call && next == after && records(branch::kOpenCalls)) return false;  // no open call
    switch (branch.control) {
        case Control::conditional: {
            const std::uint64_t target = branch_target(branch, address);
            return target != after && (next == target || next == after);
        }
        case Control::jump: return next == branch_target(branch, address);
        case Control::call:
        case Control::call_indirect:
            if (branch.control == Control::call ? next != branch_target(branch, address) : !can_check) return false;
            if (depth_ == most_calls()) return false;
            returns_[depth_++] = after;
            return true;
        case Control::ret:
            if (depth_ == 0) return false;
            --depth_;
            return next == returns_[depth_] && !instrumentation_.targets.holds(next);
        case Control::jump_indirect: return can_check;
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

/// Whether a tuple can count the whole trace: the time that it keeps the core busy may be too long.
bool Translation::fits_tuple() const {
    std::size_t busy = 0;
    for (std::size_t i = 0; i < decoded_.count; ++i) busy += costs_[i].busy;
    return busy <= std::numeric_limits<std::uint8_t>::max();
}

std::uint64_t Translation::find_safe_returns() const {
    static_assert(kLongestBlock <= 64);
    std::uint64_t safe = 0;
    TraceStack stack;
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i < decoded_.count; address = address_after(i++, address))
        if (stack.follow(decoded_.instructions[i], at_address<const std::uint8_t>(address)))
            safe |= std::uint64_t{1} << i;
    return safe;
}

bool Translation::begin_trace(const TracePath& path) {
    decode_path(path);
    if (decoded_.count == 0 || !can_be_traced()) return false;
    compute_costs();
    if (!fits_tuple()) return false;
    safe_returns_ = find_safe_returns();
    choose_history_register();
    id_ = cache_.blocks.allocate();
    if (id_ == 0) return false;
    block_ = &cache_.blocks[id_];
    *block_ = {};
    block_->pc = code_.pc;
    block_->trace = true;
    block_->notes_calls = records(branch::kOpenCalls) ? 1 : 0;
    lane_ = id_ % run::kLanes;
    block_->lane = counting_.budgeted ? lane_ & 7u : history_number(history_);
    block_->instructions = static_cast<std::uint8_t>(decoded_.count);
    for (std::size_t i = 0; i < decoded_.count; ++i)
        block_->guest_bytes = (block_->guest_bytes + decoded_.instructions[i].length) & kMostGuestBytes;
    pieces_[piece_count_].first = TracePiece::kEnd;
    return true;
}

Block* Translation::run_trace(const TracePath& path, bool indirect_entry) {
    return begin_trace(path) ? emit_block(indirect_entry) : nullptr;
}

/// Emits a branch after which the trace goes on, at `next`.
void Translation::emit_trace_branch(std::size_t index, std::uint64_t address, std::uint64_t next) {
    const Instruction& instruction = decoded_.instructions[index];
    switch (instruction.control) {
        case Control::conditional: return emit_trace_conditional(index, address);
        case Control::jump: return hot_.nop(1);
        case Control::call:
            note_direct_call(address + instruction.length, next, true);
            push_constant(address + instruction.length);
            ++open_calls_;
            if (counting_.predicting) predict_direct_call_in_trace(address + instruction.length);
            return;
        case Control::ret:
            if ((safe_returns_ >> index & 1) == 0) {
                emit_check(index, address, next);
                unspill_check();
            }
            --open_calls_;
            return hot_.lea(rsp, rsp, static_cast<std::int32_t>(sizeof(std::uint64_t) + instruction.immediate));
        case Control::jump_indirect:
        case Control::call_indirect: return emit_indirect_in_trace(index, address, next);
        default: return;
    }
}

void Translation::emit_trace_conditional(std::size_t index, std::uint64_t address) {
    const Instruction& instruction = decoded_.instructions[index];
    const auto condition = static_cast<std::uint8_t>(instruction.opcode & 15);
    const std::uint64_t target = branch_target(instruction, address);
    const std::uint64_t after = address + instruction.length;
    const bool taken = is_taken_in_trace(index);
    TraceExit exit{.target = taken ? after : target, .rest = index + 1, .taken = taken ? -1 : 1, .operand = nullptr};
    exit.makes_step = !taken && target <= address;
    exit.steps = steps_from(index);
    if (counting_.predicting) exit.branch = address;
    exit.resolving = resolving_;
    exit.calls = open_calls_;
    exit.history = history_ != rsp;
    leave_trace_if(static_cast<Condition>(taken ? condition ^ 1 : condition), exit);
    predict_conditional(address, taken ? target : after, taken);
}

/// Goes on if the branch at `address` leads to `expected`. It has had no effect then. rcx and r11 are spilled.
void Translation::emit_check(std::size_t index, std::uint64_t address, std::uint64_t expected) {
    const Instruction& instruction = decoded_.instructions[index];
    spill(kTargetRegister);
    spill(kScratchRegister);
    spilled_ = kTargetRegister | kScratchRegister << 4;
    if (instruction.control == Control::ret)
        hot_.load_stack(kTargetRegister, 0);
    else
        load_operand(instruction, address, kTargetRegister);
    hot_.mov(kScratchRegister, -expected);
    hot_.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister);
    std::uint8_t* const same = hot_.jrcxz_forward();
    const std::uint8_t* const other = hot_.at();
    unspill(kTargetRegister);
    unspill(kScratchRegister);
    TraceExit exit{.target = address, .rest = index, .taken = 0, .operand = nullptr};
    exit.steps = steps_from(index);
    exit.calls = open_calls_;
    exit.history = history_ != rsp;
    leave_trace(exit);
    hot_.bind(same);
    if (records(branch::kOpenCalls)) note_checked(instruction, address, other);
}

/// In front of the trace's last instruction, which is written as that of any block.
void Translation::end_path() {
    settle_predicted_returns(open_calls_);
    settle_open_calls(open_calls_);
    open_calls_ = 0;
    end_predictions_of_trace();
}

void Translation::unspill_check() {
    unspill(kTargetRegister);
    unspill(kScratchRegister);
}

/// A call becomes an open call, and a return that is not of the newest one leaves the trace at `other`
/// (note_calls.cpp). Both registers are spilled.
void Translation::note_checked(const Instruction& instruction, std::uint64_t address, const std::uint8_t* other) {
    if (instruction.control == Control::call_indirect)
        write_open_call(address + instruction.length, kScratchRegister);
    else if (instruction.control == Control::ret)
        hot_.bind_far(compare_newest_call(), other);
}

/// An indirect jump or call that leads to `expected` on the trace's path.
void Translation::emit_indirect_in_trace(std::size_t index, std::uint64_t address, std::uint64_t expected) {
    const Instruction& instruction = decoded_.instructions[index];
    const bool calls = instruction.control == Control::call_indirect;
    const std::uint64_t return_address = address + instruction.length;
    emit_check(index, address, expected);
    if (calls) {
        push_constant(return_address);
        ++open_calls_;
    }
    if (counting_.predicting) {
        if (calls) predict_call_in_trace(kScratchRegister, return_address);
        hot_.mov(kTargetRegister, expected);
        predict_indirect(address, calls ? branch::kIndirectCall : branch::kIndirectJump);
    }
    unspill_check();
}

}  // namespace anyperf::engine::x86_64
