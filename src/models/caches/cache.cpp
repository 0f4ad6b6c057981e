#include "models/caches/cache.h"

#include <bit>

namespace anyperf::models {

namespace {

// A way is one word, and 0 is an invalid way. A line's number leaves room for two bits of state: lines have at least 16
// bytes (machines/machine_fields.h), so numbers have at most 60 bits, and a TLB marks large pages by bit 60 (tlb.h).
constexpr unsigned kStateBits = 2;
constexpr std::uint64_t kStateMask = (1U << kStateBits) - 1;

constexpr std::uint64_t word_of(std::uint64_t line, LineState state) {
    return line << kStateBits | static_cast<std::uint64_t>(state);
}
constexpr LineState state_of(std::uint64_t word) {
    return static_cast<LineState>(word & kStateMask);
}
constexpr std::uint64_t line_of(std::uint64_t word) {
    return word >> kStateBits;
}

/// Moves a set's way to the front. The ways before it move back by one.
void move_to_front(std::uint64_t* set, unsigned way) {
    const std::uint64_t moved = set[way];
    for (unsigned i = way; i > 0; --i) set[i] = set[i - 1];
    set[0] = moved;
}

// The tree of tree-PLRU is a heap of bits: node 1 is the root, the children of node n are 2n and 2n + 1, and the leaves
// are the ways. A bit says which half was used longer ago: 1 the upper.

void tree_point_away(std::uint64_t& bits, unsigned ways, unsigned way) {
    for (unsigned node = ways + way; node > 1; node /= 2) {
        const bool upper = node % 2 == 1;
        const std::uint64_t bit = std::uint64_t{1} << (node / 2);
        bits = upper ? bits & ~bit : bits | bit;
    }
}

unsigned tree_victim(std::uint64_t bits, unsigned ways) {
    unsigned node = 1;
    while (node < ways) node = node * 2 + (bits >> node & 1);
    return node - ways;
}

// Not-recently-used is one bit a way: 1 after a use. The victim is the first way whose bit is 0.

/// Marks a way as used. When all are marked, only this one stays so.
void mark_used(std::uint64_t& bits, unsigned ways, unsigned way) {
    const std::uint64_t all = ways == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << ways) - 1;
    bits |= std::uint64_t{1} << way;
    if (bits == all) bits = std::uint64_t{1} << way;
}

}  // namespace

// The words of the policy follow those of the ways.
Cache::Cache(const CacheGeometry& geometry, std::uint64_t* memory)
    : ways_(memory), sets_(geometry.sets), way_count_(geometry.ways), replacement_(geometry.replacement) {
    if (replacement_ != Replacement::lru) policy_ = memory + std::size_t{sets_} * way_count_;
}

// The state is compared as well: an invalid way may still hold the number 0.
unsigned Cache::way_of(std::uint64_t line) const {
    const std::uint64_t* set = set_of(line);
    for (unsigned way = 0; way < way_count_; ++way)
        if (line_of(set[way]) == line && state_of(set[way]) != LineState::invalid) return way;
    return kAbsent;
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
            // One way has no other to be compared with: its bit is always set.
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
