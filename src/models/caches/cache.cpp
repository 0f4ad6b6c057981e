#include "models/caches/cache.h"

#include <bit>

namespace anyperf::models {

namespace {

/// Moves a set's way to the front. The ways before it move back by one.
void move_to_front(std::uint64_t* set, unsigned way) {
    const std::uint64_t moved = set[way];
    for (unsigned i = way; i > 0; --i) set[i] = set[i - 1];
    set[0] = moved;
}

// The tree of tree-PLRU is a heap of bits: node 1 is the root, the children of node n are 2n and 2n + 1, and the leaves
// are the ways. A bit says which half was used longer ago: 0 the lower, 1 the upper.

// Without a branch on the way, which nothing could predict.
void tree_point_away(std::uint64_t& bits, unsigned ways, unsigned way) {
    for (unsigned node = ways + way; node > 1; node /= 2) {
        const std::uint64_t lower_half_used = ~node & 1U;
        bits = (bits & ~(std::uint64_t{1} << (node / 2))) | lower_half_used << (node / 2);
    }
}

unsigned tree_victim(std::uint64_t bits, unsigned ways) {
    unsigned node = 1;
    while (node < ways) node = node * 2 + static_cast<unsigned>(bits >> node & 1);
    return node - ways;
}

// Not-recently-used has one bit for each way: 1 after a use. The victim is the first way whose bit is 0.

/// Marks a way as used. If all are marked then, the others lose their marks.
void mark_used(std::uint64_t& bits, unsigned ways, unsigned way) {
    const std::uint64_t all = ways == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << ways) - 1;
    bits |= std::uint64_t{1} << way;
    if (bits == all) bits = std::uint64_t{1} << way;
}

}  // namespace

// The words of the policy follow those of the ways, and the hints those of the policy.
Cache::Cache(const CacheGeometry& geometry, std::uint64_t* memory)
    : ways_(memory), sets_(geometry.sets), way_count_(geometry.ways), replacement_(geometry.replacement) {
    if (replacement_ == Replacement::lru) return;
    policy_ = memory + std::size_t{sets_} * way_count_;
    const std::size_t hints = hints_of(geometry);
    if (hints == 0) return;
    hints_ = reinterpret_cast<std::uint8_t*>(policy_ + sets_);
    hint_mask_ = hints - 1;
}

// Sets in the order of use are searched from the front, where most hits are. Elsewhere a hit may be in any way, which
// no branch predictor predicts, so four ways are compared between two branches.
unsigned Cache::search(std::uint64_t line) const {
    const std::uint64_t* const set = set_of(line);
    unsigned way = 0;
    if (replacement_ != Replacement::lru) {
        for (; way + 4 <= way_count_; way += 4) {
            const unsigned found = static_cast<unsigned>(is_word_of(set[way], line)) |
                                   static_cast<unsigned>(is_word_of(set[way + 1], line)) << 1 |
                                   static_cast<unsigned>(is_word_of(set[way + 2], line)) << 2 |
                                   static_cast<unsigned>(is_word_of(set[way + 3], line)) << 3;
            if (found != 0) return way + static_cast<unsigned>(std::countr_zero(found));
        }
    }
    for (; way < way_count_; ++way)
        if (is_word_of(set[way], line)) return way;
    return kAbsent;
}

unsigned Cache::search_and_note(std::uint64_t line) const {
    const unsigned way = search(line);
    if (way != kAbsent && hints_ != nullptr) hints_[line & hint_mask_] = static_cast<std::uint8_t>(way);
    return way;
}

// Under LRU this moves words, so a way's number is valid only until the next call.
void Cache::make_recent(std::uint64_t line, unsigned way) {
    switch (replacement_) {
        case Replacement::lru: move_to_front(set_of(line), way); break;
        case Replacement::tree_plru: tree_point_away(policy_of(line), way_count_, way); break;
        case Replacement::not_recently_used: mark_used(policy_of(line), way_count_, way); break;
    }
}

/// A free way if the set has one. Under LRU free ways need not be last, because lines are removed from the middle.
unsigned Cache::way_to_free(std::uint64_t line) const {
    const std::uint64_t* set = set_of(line);
    for (unsigned way = 0; way < way_count_; ++way)
        if (state_of(set[way]) == LineState::invalid) return way;
    switch (replacement_) {
        case Replacement::lru: break;
        case Replacement::tree_plru: return tree_victim(policy_of(line), way_count_);
        case Replacement::not_recently_used: {
            // If the set has a single way, its bit is always set.
            const unsigned way = static_cast<unsigned>(std::countr_one(policy_of(line)));
            return way < way_count_ ? way : 0;
        }
    }
    return way_count_ - 1U;
}

LineState Cache::touch(std::uint64_t line) {
    if (!exists()) return LineState::invalid;
    const unsigned way = way_of(line);
    if (way == kAbsent) return LineState::invalid;
    const LineState state = state_of(set_of(line)[way]);
    make_recent(line, way);
    return state;
}

LineState Cache::find(std::uint64_t line) const {
    if (!exists()) return LineState::invalid;
    const unsigned way = way_of(line);
    return way == kAbsent ? LineState::invalid : state_of(set_of(line)[way]);
}

// `room` names the way before make_recent() moves it: the word has to be written first.
Victim Cache::insert(std::uint64_t line, LineState state) {
    if (!exists()) return {};
    const unsigned way = way_to_free(line);
    std::uint64_t& room = set_of(line)[way];
    const Victim victim{line_of(room), state_of(room)};
    room = word_of(line, state);
    if (hints_ != nullptr) hints_[line & hint_mask_] = static_cast<std::uint8_t>(way);
    make_recent(line, way);
    return victim;
}

void Cache::set_state(std::uint64_t line, LineState state) {
    if (!exists()) return;
    const unsigned way = way_of(line);
    if (way != kAbsent) set_of(line)[way] = word_of(line, state);
}

LineState Cache::remove(std::uint64_t line) {
    const LineState state = find(line);
    if (state != LineState::invalid) set_of(line)[way_of(line)] = 0;
    return state;
}

}  // namespace anyperf::models
