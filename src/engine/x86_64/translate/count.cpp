// count.cpp: the prologue that counts a segment before it is executed.
//
// Counters are in memory at %gs, two in a word, in several lanes (live_counters.h). Word 0 of a lane holds the budget,
// the instructions that the thread may still execute: the prologue subtracts the segment's instructions and leaves the
// block with ExitReason::budget if the result is negative, before the segment has any effect. The other words get one
// addition each. What a segment has counted in advance is subtracted if it is left in the middle (recover.h).
//
// sub and add set the flags, so they are used only where flags_are_dead(), which is nearly always. Elsewhere the sum
// goes through rcx by lea, which leaves the flags alone.
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

// A segment that counts nothing (of instructions that run in place) has no prologue.

/// Consecutive segments use different lanes: an addition to memory waits for the previous one to the same word
/// (kLanes in live_counters.h). A block with a limit stays in lane 0, which alone has the rest of the budget then.
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
        // The budget becomes negative if the segment does not fit. The exit then adds the charge back (on_budget() in
        // dispatch.cpp).
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
    // The upper 32 bits of a word are all ones if its budget has just become negative, since a segment takes less than
    // 2^(32 - kUpperCounterShift) instructions; for any budget that is not negative they are not. Adding 1 to all ones
    // gives zero, which jrcxz tests without a flag.
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
