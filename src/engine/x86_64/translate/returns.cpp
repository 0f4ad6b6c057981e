// returns.cpp: calls and returns that are paired with the host's own, so that the CPU's return predictor
// predicts them.
//
// A call of the application is a `call` of the host, and its return a `ret`. The host's return address leads to the
// call's *pad*, which follows the call; the code after it in the application follows the pad, mostly in the same block.
// The stack holds the application's return address at every point where anyone looks. The host's is kept in
// Thread::return_pads, by the place on the stack where the application's is, so an entry is found again after longjmp()
// and the like:
//
//   call  TAIL                                                     5 bytes; TAIL is at the end of the block
//   PAD:  mov  rcx, -8(rsp)        mov  MINUS(rip), r11            the place has the application's address again
//         lea  (rcx,r11), rcx      jrcxz OK      jmp MISMATCHED    (routines.h)
//   OK:   mov  %gs:SPILL, rcx      mov  %gs:SPILL, r11
//
//   TAIL: mov  r11, %gs:SPILL      pext %gs:MASK, rsp, r11         r11 = the place's number
//         pop  %gs:PADS(,r11,8)    push RETURN(rip)                the host's address off the stack, the other onto it
//         mov  %gs:SPILL, r11      jmp  TARGET                     a direct exit
//
//   return: mov  rcx, %gs:SPILL    mov  r11, %gs:SPILL
//         pext %gs:MASK, rsp, r11  pop  rcx
//         push %gs:PADS(,r11,8)    ret
//
// An indirect call spills rcx and r11, and rcx has its target at `call`; its tail ends as an indirect jump
// (emit_indirect_lookup). Nothing changes a flag, and nothing is written below the application's stack pointer but the
// word that `ret` has popped, which gets its value back.
//
// A pad trusts nothing: it compares the address that was returned to. If it differs (another stack whose places have
// the same numbers, a return address that the program has changed), the return goes through the table of indirect
// entries. So does one whose entry is unused (Routines::unpaired_return). When a block is removed its pads' words MINUS
// match no address any more (Cache::remove), since the code after a pad may be stale. Before the memory of pads is
// freed, all entries become unused (flush_cache()).
//
// Faults: the host's `call` faults as the application's would, before a register changes, or for an indirect call with
// both registers spilled. So does its return's `pop rcx`. The rest accesses the same word once more, which fails if
// another thread has changed the stack's mapping meanwhile; and `push` writes to a word that the application's return
// only reads, which fails on a read-only stack. recover_paired() decides by the host instruction that faulted: in a
// tail the call has not happened; from the return's `push` on the return has, since its target is in rcx.
//
// Everything is unpaired, as branches.cpp has it, while something looks at calls, returns or accesses, in blocks of one
// instruction, in those that always lead to the engine (kPathLeg), and in code that is compared at each entry, which
// must not be entered by a pad. Single calls are unpaired if their return address is awaited
// (ProcessInstrumentation::targets) or is where they go: those have no return.
#include <algorithm>

#include "engine/cache/packed_marks.h"
#include "engine/freestanding/kernel.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

/// Whether nothing looks at branches or accesses, except at calls and returns for the open calls, and the code is not
/// compared at each entry.
bool Translation::can_be_traced() const {
    return !single_instruction_ && exact_ == nullptr && !counting_.recording &&
           (!counting_.predicting || predicts_in_traces()) && (instrumentation_.branches & ~branch::kOpenCalls) == 0 &&
           !instrumentation_.loads && !instrumentation_.stores && address_of(code_.at) == code_.pc;
}

bool Translation::pairs() const {
    return cache_.pairs_returns && can_be_traced() && !counting_.predicting && !records(branch::kOpenCalls) &&
           !path_leg_;
}

bool Translation::pairs_call_to(const Instruction& instruction, std::uint64_t return_address) const {
    const bool has_no_return = instruction.control == Control::call && instruction.immediate == 0;
    return pairs() && !has_no_return && !instrumentation_.targets.holds(return_address);
}

/// A block continues after a call only by a pad.
void Translation::end_after_unpaired_call() {
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        address += decoded_.instructions[i].length;
        if (!is_call(decoded_.instructions[i]) || pairs_call_to(decoded_.instructions[i], address)) continue;
        decoded_.count = i + 1;
        decoded_.end = address;
    }
}

/// Emits a call and its pad. What the application does after the call follows.
void Translation::emit_paired_call(const Instruction& instruction, std::uint64_t address) {
    const std::uint64_t return_address = address + instruction.length;
    const bool direct = instruction.control == Control::call;
    if (!direct) {
        spill(kTargetRegister);
        spill(kScratchRegister);
        spilled_ = kTargetRegister | kScratchRegister << 4;
        load_operand(instruction, address, kTargetRegister);
    }
    refuse_to_relocate();
    while (address_of(cold_.at()) % sizeof return_address != 0) cold_.byte(0);
    const std::uint8_t* const constants = cold_.at();
    cold_.u64(return_address);
    cold_.u64(-return_address);
    std::uint8_t* const operand = hot_.call_far_forward();
    emit_pad(return_address, constants + sizeof return_address);
    const std::uint64_t target = direct ? branch_target(instruction, address) : 0;
    tails_[tail_count_++] = {operand, constants, target, target <= address};
}

void Translation::emit_pad(std::uint64_t return_address, const std::uint8_t* minus) {
    if (const ExitId id = new_exit(return_address); id != 0) cache_.exits[id].set_pad(minus - block_->host);
    hot_.store_stack(kTargetRegister, -8);
    hot_.load_word(kScratchRegister, minus);
    hot_.lea_sum(kTargetRegister, kTargetRegister, kScratchRegister);
    std::uint8_t* const same = hot_.jrcxz_forward();
    hot_.jmp(mismatched_return_of(arena_));
    hot_.bind(same);
    unspill(kTargetRegister);
    unspill(kScratchRegister);
}

/// Emits the tails of the block's calls. No mark leads here: the byte before them makes the end of the block's marks a
/// place of its own, so that no signal is delivered in a tail.
void Translation::emit_call_tails() {
    if (tail_count_ != 0) hot_.trap();
    for (std::size_t i = 0; i < tail_count_; ++i) {
        const CallTail& tail = tails_[i];
        hot_.bind_far(tail.operand);
        if (tail.target != 0) spill(kScratchRegister);
        hot_.pext_gs(kScratchRegister, rsp, offsetof(Thread, return_pad_mask));
        hot_.pop_gs_by_index(kScratchRegister, offsetof(Thread, return_pads));
        hot_.push_word(tail.constants);
        if (tail.target == 0) {
            emit_indirect_lookup();
            continue;
        }
        unspill(kScratchRegister);
        emit_direct_exit(tail.target, tail.makes_step);
    }
}

void Translation::emit_paired_return() {
    refuse_to_relocate();
    spill(kTargetRegister);
    spill(kScratchRegister);
    spilled_ = kTargetRegister | kScratchRegister << 4;
    hot_.pext_gs(kScratchRegister, rsp, offsetof(Thread, return_pad_mask));
    hot_.pop(kTargetRegister);
    hot_.push_gs_by_index(kScratchRegister, offsetof(Thread, return_pads));
    hot_.ret();
}

namespace {

// The instructions that access the stack again, as the functions above write them.
constexpr std::uint8_t kPopPad[] = {0x65, 0x42, 0x8f, 0x04, 0xdd};   // and four bytes of offset
constexpr std::uint8_t kPushReturn[] = {0xff, 0x35};                 // and rel32
constexpr std::uint8_t kPushPad[] = {0x65, 0x42, 0xff, 0x34, 0xdd};  // and four bytes of offset
constexpr std::uint8_t kReturn[] = {0xc3};
constexpr std::uint8_t kStoreReturned[] = {0x48, 0x89, 0x4c, 0x24, 0xf8};
constexpr std::size_t kPopPadBytes = sizeof kPopPad + sizeof(std::uint32_t);

template <std::size_t N>
bool is_at(std::uint64_t host, const std::uint8_t (&code)[N]) {
    return std::equal(code, code + N, at_address<const std::uint8_t>(host));
}

/// The return address that the instruction at the host address `push` pushes.
std::uint64_t return_address_pushed_at(std::uint64_t push) {
    constexpr std::size_t kBytes = sizeof kPushReturn + sizeof(std::int32_t);
    std::int32_t distance = 0;
    __builtin_memcpy(&distance, at_address<const void>(push + sizeof kPushReturn), sizeof distance);
    return *at_address<const std::uint64_t>(push + kBytes + static_cast<std::uint64_t>(std::int64_t{distance}));
}

/// Sets `place` to the block's instruction that ends at `end`.
void move_to_instruction_before(std::uint64_t end, BlockPosition& place) {
    place.index = 0;
    place.pc = place.block->pc;
    const Marks marks{*place.block};
    for (; place.index + 1 < place.block->instructions && place.pc + marks[place.index].guest_length != end;
         ++place.index)
        place.pc = marks.address_after(place.index, place.pc);
}

}  // namespace

void finish_return(const Thread& thread, Registers& registers) {
    registers.rip = registers.r[kTargetRegister];
    registers.r[kTargetRegister] = thread.spill[kTargetRegister];
    registers.r[kScratchRegister] = thread.spill[kScratchRegister];
}

PairedFault recover_paired(const Thread& thread, std::uint64_t host, BlockPosition& place, Registers& registers) {
    const Block& block = *place.block;
    const Mark mark = mark_at(block, place.index);
    if (place.index == block.instructions && host > address_of(block.host) + mark.host) {  // in a tail
        const bool popping = is_at(host, kPopPad);
        if (!popping && !is_at(host, kPushReturn)) return PairedFault::none;
        if (popping) registers.r[rsp] += sizeof(std::uint64_t);
        move_to_instruction_before(return_address_pushed_at(popping ? host + kPopPadBytes : host), place);
        registers.r[kScratchRegister] = thread.spill[kScratchRegister];
        restore_spilled(thread, place, registers);
        return PairedFault::before;
    }
    const bool in_return = (mark.classes() & bit(Class::returns)) != 0;
    const bool at_return = in_return && is_at(host, kReturn);
    const bool in_pad = (mark.classes() & bit(Class::calls)) != 0 && is_at(host, kStoreReturned);
    if (!in_pad && !at_return && !(in_return && is_at(host, kPushPad))) return PairedFault::none;
    if (at_return) registers.r[rsp] += sizeof(std::uint64_t);
    finish_return(thread, registers);
    return PairedFault::after;
}

}  // namespace anyperf::engine::x86_64
