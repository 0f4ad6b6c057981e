// read_counter.cpp: rdpmc of an event that has a word of its own (x86_64/cpu/readable.h). The instruction overwrites
// rax and rdx and changes no flag (SDM volume 2, RDPMC). Where the flags are dead:
//
//   mov  rax, rcx, rdx, %gs:SPILL
//   mov  ecx, edx ; and $7, edx ; shl $4, edx           the slot
//   cmp  %gs:NUMBER(rdx), ecx ; jne OTHER
//   mov  %gs:WORD(rdx), eax ; mov %gs:(rax), rax        the count
//   mov  %gs:SHIFT(rdx), rcx ; shr cl, rax
//   mov  %gs:SPILL, rcx
//   mov  rax, rdx ; shr $32, rdx ; mov eax, eax
//   inc  %gs:TUPLE                                      the instruction counts itself after it has read
//   jmp  NEXT
//   OTHER: mov %gs:SPILL, rax, rcx, rdx ; exit          ExitReason::emulate
//
// Elsewhere lahf and seto save the status flags in ReadableWords::flags, and sahf restores them; adding 0x7f to al sets
// the overflow flag if seto has stored 1 there.
//
// Faults: none of this faults. A signal in the middle of it is delivered after it.
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

using Slot = ReadableWords::Slot;

constexpr std::size_t kSlots = offsetof(Thread, readable) + offsetof(ReadableWords, slot);
constexpr std::size_t kFlags = offsetof(Thread, readable) + offsetof(ReadableWords, flags);

constexpr std::size_t spill_of(Register reg) {
    return offsetof(Thread, spill) + std::size_t{8} * reg;
}

}  // namespace

/// False where the instruction concerns more than its own count: budgets, models, exact counts and single steps. The
/// engine then executes it.
bool Translation::reads_counters() const {
    return counting_.sums.count != 0 && counting_.on() && !counting_.budgeted && !counting_.recording &&
           !counting_.predicting && exact_ == nullptr && !single_instruction_;
}

/// The offset of the slot of ecx into rdx. If the slot is another number's, the engine executes the instruction.
void Translation::emit_slot_check(ExitId emulated, bool flags_dead) {
    constexpr std::uint8_t kSlotShift = 4;
    static_assert(sizeof(Slot) == 1u << kSlotShift);
    hot_.mov32(rdx, rcx);
    hot_.and32(rdx, ReadableWords::kSlots - 1);
    hot_.shl32(rdx, kSlotShift);
    hot_.cmp32_gs_at(rcx, rdx, kSlots + offsetof(Slot, number));
    hot_.jcc(Condition::not_equal, cold_.at());
    if (!flags_dead) {
        cold_.load_gs(rax, kFlags);
        cold_.restore_flags();
    }
    for (const Register reg : {rax, rcx, rdx}) cold_.load_gs(reg, spill_of(reg));
    exit_stub(ExitReason::emulate, emulated);
}

void Translation::emit_rdpmc(const Instruction& instruction, std::uint64_t next) {
    if (!reads_counters()) return emit_emulated(instruction, next);
    refuse_to_relocate();
    const ExitId emulated = new_exit(next);
    if (emulated == 0) return;
    cache_.exits[emulated].set_emulated_instruction(instruction);
    const bool flags_dead = flags_are_dead(cache_.executable, next, kFlagDepth);
    for (const Register reg : {rax, rcx, rdx}) spill(reg);
    if (!flags_dead) {
        hot_.save_flags();
        hot_.store_gs(rax, kFlags);
    }
    emit_slot_check(emulated, flags_dead);
    hot_.load_gs32_at(rax, rdx, kSlots + offsetof(Slot, word));
    hot_.load_gs_at(rax, rax, 0);
    hot_.load_gs_at(rcx, rdx, kSlots + offsetof(Slot, shift));
    hot_.shr_by_cl(rax);
    unspill(rcx);
    hot_.mov(rdx, rax);
    hot_.shr(rdx, 32);
    hot_.zero_extend32(rax);
    if (!flags_dead) {
        spill(rax);
        hot_.load_gs(rax, kFlags);
        hot_.restore_flags();
        unspill(rax);
    }
    emit_count_alone(instruction, flags_dead);
    emit_direct_exit(next);
}

}  // namespace anyperf::engine::x86_64
