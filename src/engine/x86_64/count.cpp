// count.cpp: what a block does to be counted. Counters are in memory at %gs; one add each where the flags are dead at
// the block's start, which they nearly always are; where not, the sum goes through rcx by lea, which leaves flags
// alone.
#include "engine/x86_64/classes.h"
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr unsigned kFlagDepth = 2;  // direct branches to look behind: one decides 89 of 100 blocks, two 92

constexpr std::size_t counter_offset(Class id) {
    return offsetof(Thread, page) + offsetof(ThreadPage, counters) + offsetof(LiveCounters, count) +
           sizeof(std::uint64_t) * static_cast<std::size_t>(id);
}

constexpr std::size_t kBudgetOffset =
    offsetof(Thread, page) + offsetof(ThreadPage, counters) + offsetof(LiveCounters, budget);

}  // namespace

ClassSet counted_at_start(const Instruction& instruction) {
    if (runs_in_place(instruction)) return 0;
    const bool conditional = instruction.control == Control::conditional || instruction.control == Control::counted;
    return conditional ? instruction.classes & static_cast<ClassSet>(~bit(Class::taken)) : instruction.classes;
}

std::int32_t Translation::amount_of(Class id) const {
    std::int32_t amount = 0;
    for (std::size_t i = 0; i < decoded_.count; ++i)
        if ((counted_at_start(decoded_.instructions[i]) & bit(id)) != 0) ++amount;
    return amount;
}

void Translation::emit_prologue() {
    const std::int32_t amount = amount_of(Class::instructions);
    if (!counting_.on() || amount == 0) return;
    block_->counted = counting_.open;
    block_->charged = static_cast<std::uint16_t>(amount);
    const bool flags_dead = flags_are_dead(cache_.executable, decoded_.pc, kFlagDepth);
    const ExitId over = new_exit(decoded_.pc);
    if (over == 0) return;
    if (flags_dead) {
        hot_.sub_gs(kBudgetOffset, amount);
        hot_.jcc(Condition::sign, leave_stub(Leave::budget, over));
    } else {
        emit_flagless_budget(amount, over);
    }
    for (const ClassRow& row : kClasses) {
        if (row.id == Class::instructions || (counting_.open & bit(row.id)) == 0) continue;
        const std::int32_t of_class = amount_of(row.id);
        if (of_class != 0) emit_count(row.id, of_class, flags_dead);
    }
}

void Translation::emit_flagless_budget(std::int32_t amount, ExitId over) {
    // The high half of a negative budget is all ones, and of no other: a budget is below 2^63. One more is zero, which
    // jrcxz sees.
    spill(rcx);
    hot_.load_gs(rcx, kBudgetOffset);
    hot_.lea(rcx, rcx, -amount);
    hot_.store_gs(rcx, kBudgetOffset);
    hot_.load_gs32(rcx, kBudgetOffset + 4);
    hot_.lea32(rcx, rcx, 1);
    std::uint8_t* const negative = hot_.jrcxz_forward();
    unspill(rcx);
    std::uint8_t* const body = hot_.jmp_forward();
    hot_.land(negative);
    unspill(rcx);
    hot_.jmp(leave_stub(Leave::budget, over));
    hot_.land(body);
}

void Translation::emit_count(Class id, std::int32_t amount, bool flags_dead) {
    if (flags_dead) {
        hot_.add_gs(counter_offset(id), amount);
        return;
    }
    spill(rcx);
    hot_.load_gs(rcx, counter_offset(id));
    hot_.lea(rcx, rcx, amount);
    hot_.store_gs(rcx, counter_offset(id));
    unspill(rcx);
}

void Translation::emit_taken(std::uint64_t target) {
    if ((counting_.open & bit(Class::taken)) != 0)
        emit_count(Class::taken, 1, flags_are_dead(cache_.executable, target, kFlagDepth));
}

}  // namespace anyperf::engine::x86_64
