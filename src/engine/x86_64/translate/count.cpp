// count.cpp: the prologue that counts a segment before it is executed.
//
// Counters are in memory at %gs, two in a word, in several lanes (live_counters.h). The upper counter of word 0 is the
// lane's part of the budget. The prologue subtracts the segment's instructions from it. If the result is negative, it
// leaves the block with ExitReason::budget, before the segment has any effect. One addition updates each other word
// that the segment changes. If a segment is left in the middle, recover.h takes back what did not retire.
//
// sub and add change the flags, so the prologue uses them only where flags_are_dead() returns true, which is nearly
// everywhere. Elsewhere it adds in rcx with lea, which keeps the flags.
#include "engine/x86_64/translate/lane_words.h"
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t lane_offset(std::size_t lane) {
    return offsetof(Thread, page) + offsetof(run::ThreadPage, counters) + offsetof(run::LiveCounters, lane) +
           sizeof(run::LiveCounters::Lane) * lane + offsetof(run::LiveCounters::Lane, word);
}

constexpr std::size_t word_offset(std::size_t lane, std::size_t word) {
    return lane_offset(lane) + sizeof(std::int64_t) * word;
}

static_assert(kLongestBlock < std::size_t{1} << (31 - run::kUpperCounterShift), "a block's amounts are an immediate");
static_assert(kLongestBlock <= std::size_t{1} << kFirstBits);
static_assert(place_of(Class::instructions).word == 0 && place_of(Class::instructions).upper);

}  // namespace

ClassSet counted_at_start(const Instruction& instruction) {
    if (runs_in_place(instruction)) return 0;
    const bool conditional = instruction.control == Control::conditional || instruction.control == Control::rcx_branch;
    return conditional ? instruction.classes & static_cast<ClassSet>(~bit(Class::taken)) : instruction.classes;
}

/// What the segment that begins with instruction `first` adds to the words of its lane.
Additions Translation::additions_of(std::size_t first) const {
    Additions additions;
    const std::size_t end = decoded_.segment_end(first);
    for (std::size_t i = first; i < end; ++i) additions.add(counting_.open, counted_at_start(decoded_.instructions[i]));
    return additions;
}

/// Consecutive segments use different lanes, because an addition to memory waits for the previous one to the same word
/// (kLanes in live_counters.h). A block with a limit stays in lane 0, which then has the whole rest of the budget. A
/// segment whose instructions all run in place counts nothing in advance and has no prologue.
void Translation::emit_prologue(std::size_t first, std::uint64_t pc) {
    plan_.capture_count = plan_.next_capture = 0;
    if (!counting_.on()) return;
    const Additions additions = additions_of(first);
    if (additions.word[0] == 0) return;
    block_->counted = counting_.open;
    if (counting_.recording) plan_recording(first, pc);
    const bool flags_dead = flags_are_dead(cache_.executable, pc, kFlagDepth, {&decoded_, first});
    if (first != 0 && block_->limit == 0) lane_ = (lane_ + 1) % run::kLanes;
    const std::int32_t charged = -additions.word[0];
    const std::uint32_t budget_payload = encode_segment(id_, first, lane_);
    if (flags_dead) {
        // If the segment does not fit, the budget becomes negative, and on_budget() in dispatch.cpp undoes the charge.
        hot_.sub_gs(word_offset(lane_, 0), charged);
        hot_.jcc(Condition::sign, exit_stub(ExitReason::budget, budget_payload));
    } else {
        emit_charge_keeping_flags(charged, budget_payload);
    }
    if (counting_.recording) emit_record(flags_dead, budget_payload);
    for (std::size_t word = 1; word < run::LiveCounters::kWords; ++word)
        if (additions.word[word] != 0) emit_addition(word, additions.word[word], flags_dead);
}

void Translation::emit_charge_keeping_flags(std::int32_t charged, std::uint32_t budget_payload) {
    // A segment has fewer than 2^(32 - kUpperCounterShift) instructions. So the upper 32 bits of a word are all ones if
    // its budget has just become negative, and never if the budget is not negative. Adding 1 to all ones gives zero,
    // which jrcxz tests without using the flags.
    static_assert(run::kUpperCounterShift < 32 && kLongestBlock < std::size_t{1} << (32 - run::kUpperCounterShift));
    spill(rcx);
    hot_.load_gs(rcx, word_offset(lane_, 0));
    hot_.lea(rcx, rcx, -charged);
    hot_.store_gs(rcx, word_offset(lane_, 0));
    hot_.load_gs32(rcx, word_offset(lane_, 0) + 4);
    hot_.lea32(rcx, rcx, 1);
    std::uint8_t* const negative = hot_.jrcxz_forward();
    unspill(rcx);
    std::uint8_t* const body = hot_.jmp_forward();
    hot_.bind(negative);
    unspill(rcx);
    hot_.jmp(exit_stub(ExitReason::budget, budget_payload));
    hot_.bind(body);
}

void Translation::emit_addition(std::size_t word, std::int32_t added, bool flags_dead) {
    if (flags_dead) {
        hot_.add_gs(word_offset(lane_, word), added);
        return;
    }
    spill(rcx);
    hot_.load_gs(rcx, word_offset(lane_, word));
    hot_.lea(rcx, rcx, added);
    hot_.store_gs(rcx, word_offset(lane_, word));
    unspill(rcx);
}

void Translation::emit_taken_count(std::uint64_t target) {
    if ((counting_.open & bit(Class::taken)) != 0)
        emit_addition(place_of(Class::taken).word, shifted_into_word(Class::taken, 1),
                      flags_are_dead(cache_.executable, target, kFlagDepth));
}

}  // namespace anyperf::engine::x86_64
