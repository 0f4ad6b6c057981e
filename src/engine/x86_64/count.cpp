// count.cpp: what a block does to be counted. Counters are in memory at %gs, two in a word; one add a word where the
// flags are dead at the block's start, which they nearly always are; where not, the sum goes through rcx by lea, which
// leaves flags alone.
#include "engine/x86_64/lane_words.h"
#include "engine/x86_64/segment.h"
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr unsigned kFlagDepth = 2;  // direct branches to look behind: one decides 89 of 100 blocks, two 92

constexpr std::size_t lane_offset(std::size_t lane) {
    return offsetof(Thread, page) + offsetof(ThreadPage, counters) + offsetof(LiveCounters, lane) +
           sizeof(LiveCounters::Lane) * lane + offsetof(LiveCounters::Lane, word);
}

constexpr std::size_t word_offset(std::size_t lane, std::size_t word) {
    return lane_offset(lane) + sizeof(std::int64_t) * word;
}

static_assert(kLongestBlock < std::size_t{1} << (31 - kUpperCounter), "a block's amounts are an immediate");
static_assert(kLongestBlock <= std::size_t{1} << kFirstBits);
static_assert(place_of(Class::instructions).word == 0 && place_of(Class::instructions).upper);

}  // namespace

ClassSet counted_at_start(const Instruction& instruction) {
    if (runs_in_place(instruction)) return 0;
    const bool conditional = instruction.control == Control::conditional || instruction.control == Control::counted;
    return conditional ? instruction.classes & static_cast<ClassSet>(~bit(Class::taken)) : instruction.classes;
}

/// What the segment that `first` begins adds to the words of its lane.
Additions Translation::additions_of(std::size_t first) const {
    Additions additions;
    const std::size_t end = decoded_.segment_end(first);
    for (std::size_t i = first; i < end; ++i) additions.add(counting_.open, counted_at_start(decoded_.instructions[i]));
    return additions;
}

void Translation::emit_prologue(std::size_t first, std::uint64_t pc) {
    if (!counting_.on()) return;
    const Additions additions = additions_of(first);
    if (additions.word[0] == 0) return;
    block_->counted = counting_.open;
    const bool flags_dead = flags_are_dead(cache_.executable, pc, kFlagDepth, {&decoded_, first});
    if (first != 0 && block_->limit == 0) lane_ = (lane_ + 1) % kLanes;
    const std::int32_t charged = -additions.word[0];
    const std::uint32_t over = name_of_segment(id_, first, lane_);
    if (flags_dead) {
        hot_.sub_gs(word_offset(lane_, 0), charged);
        hot_.jcc(Condition::sign, leave_stub(Leave::budget, over));
    } else {
        emit_flagless_budget(charged, over);
    }
    for (std::size_t word = 1; word < LiveCounters::kWords; ++word)
        if (additions.word[word] != 0) emit_addition(word, additions.word[word], flags_dead);
}

void Translation::emit_flagless_budget(std::int32_t charged, std::uint32_t over) {
    // The high half of a word with a budget that has just run out is all ones, and of no other. One more is zero, which
    // jrcxz sees.
    static_assert(kUpperCounter < 32 && kLongestBlock < std::size_t{1} << (32 - kUpperCounter));
    spill(rcx);
    hot_.load_gs(rcx, word_offset(lane_, 0));
    hot_.lea(rcx, rcx, -charged);
    hot_.store_gs(rcx, word_offset(lane_, 0));
    hot_.load_gs32(rcx, word_offset(lane_, 0) + 4);
    hot_.lea32(rcx, rcx, 1);
    std::uint8_t* const negative = hot_.jrcxz_forward();
    unspill(rcx);
    std::uint8_t* const body = hot_.jmp_forward();
    hot_.land(negative);
    unspill(rcx);
    hot_.jmp(leave_stub(Leave::budget, over));
    hot_.land(body);
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

void Translation::emit_taken(std::uint64_t target) {
    if ((counting_.open & bit(Class::taken)) != 0)
        emit_addition(place_of(Class::taken).word, in_word(Class::taken, 1),
                      flags_are_dead(cache_.executable, target, kFlagDepth));
}

}  // namespace anyperf::engine::x86_64
