// count.cpp: what a block does to be counted. Counters are in memory at %gs; one add each where the flags are dead at
// the block's start, which they nearly always are; where not, the sum goes through rcx by lea, which leaves flags
// alone.
#include "engine/x86_64/classes.h"
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr unsigned kFlagDepth = 2;  // direct branches to look behind: one decides 89 of 100 blocks, two 92

constexpr std::size_t lane_offset(std::size_t lane) {
    return offsetof(Thread, page) + offsetof(ThreadPage, counters) + offsetof(LiveCounters, lane) +
           sizeof(LiveCounters::Lane) * lane;
}

constexpr std::size_t counter_offset(std::size_t lane, Class id) {
    return lane_offset(lane) + offsetof(LiveCounters::Lane, count) +
           sizeof(std::uint64_t) * static_cast<std::size_t>(id);
}

constexpr std::size_t budget_offset(std::size_t lane) {
    return lane_offset(lane) + offsetof(LiveCounters::Lane, budget);
}

}  // namespace

ClassSet counted_at_start(const Instruction& instruction) {
    if (runs_in_place(instruction)) return 0;
    const bool conditional = instruction.control == Control::conditional || instruction.control == Control::counted;
    return conditional ? instruction.classes & static_cast<ClassSet>(~bit(Class::taken)) : instruction.classes;
}

std::int32_t Translation::amount_of(Class id, std::size_t first) const {
    std::int32_t amount = 0;
    const std::size_t end = decoded_.segment_end(first);
    for (std::size_t i = first; i < end; ++i)
        if ((counted_at_start(decoded_.instructions[i]) & bit(id)) != 0) ++amount;
    return amount;
}

void Translation::emit_prologue(std::size_t first, std::uint64_t pc) {
    if (!counting_.on()) return;
    const std::int32_t amount = amount_of(Class::instructions, first);
    if (amount == 0) return;
    block_->counted = counting_.open;
    const bool flags_dead = flags_are_dead(cache_.executable, pc, kFlagDepth);
    const ExitId over = new_exit(pc);
    if (over == 0) return;
    if (first != 0 && block_->limit == 0) lane_ = (lane_ + 1) % kLanes;
    cache_.exits[over].lane = static_cast<std::uint8_t>(lane_);
    cache_.exits[over].charged = static_cast<std::uint16_t>(amount);
    if (flags_dead) {
        hot_.sub_gs(budget_offset(lane_), amount);
        hot_.jcc(Condition::sign, leave_stub(Leave::budget, over));
    } else {
        emit_flagless_budget(amount, over);
    }
    for (const ClassRow& row : kClasses) {
        if (row.id == Class::instructions || (counting_.open & bit(row.id)) == 0) continue;
        const std::int32_t of_class = amount_of(row.id, first);
        if (of_class != 0) emit_count(row.id, of_class, flags_dead);
    }
}

void Translation::emit_flagless_budget(std::int32_t amount, ExitId over) {
    // The high half of a negative budget is all ones, and of no other: a budget is below 2^63. One more is zero, which
    // jrcxz sees.
    spill(rcx);
    hot_.load_gs(rcx, budget_offset(lane_));
    hot_.lea(rcx, rcx, -amount);
    hot_.store_gs(rcx, budget_offset(lane_));
    hot_.load_gs32(rcx, budget_offset(lane_) + 4);
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
        hot_.add_gs(counter_offset(lane_, id), amount);
        return;
    }
    spill(rcx);
    hot_.load_gs(rcx, counter_offset(lane_, id));
    hot_.lea(rcx, rcx, amount);
    hot_.store_gs(rcx, counter_offset(lane_, id));
    unspill(rcx);
}

void Translation::emit_taken(std::uint64_t target) {
    if ((counting_.open & bit(Class::taken)) != 0)
        emit_count(Class::taken, 1, flags_are_dead(cache_.executable, target, kFlagDepth));
}

}  // namespace anyperf::engine::x86_64
