#include "models/caches/cache.h"

#include <bit>

namespace anyperf::models {

namespace {

/// Moves a set's way to the front. The ways before it move back by one. How many they are is as good as random, and a
/// loop that ends there would be mispredicted. So the ways are exchanged four at a time, those after `way` with no
/// effect.
void move_to_front(std::uint64_t* set, unsigned way, unsigned ways) {
    constexpr unsigned kStep = 4;
    std::uint64_t before = set[way];
    const auto exchange = [&](unsigned i) {
        const std::uint64_t moved = (before ^ set[i]) & (std::uint64_t{0} - static_cast<std::uint64_t>(i <= way));
        set[i] ^= moved;
        before ^= moved;
    };
    unsigned i = 0;
    for (; i <= way && i + kStep <= ways; i += kStep) exchange(i), exchange(i + 1), exchange(i + 2), exchange(i + 3);
    for (; i <= way; ++i) exchange(i);
}

// Not-recently-used has one bit for each way: 1 after a use. The victim is the first way whose bit is 0.

/// Marks a way as used. If all are marked then, the others lose their marks.
void mark_used(std::uint64_t& bits, unsigned ways, unsigned way) {
    const std::uint64_t all = ways == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << ways) - 1;
    bits |= std::uint64_t{1} << way;
    if (bits == all) bits = std::uint64_t{1} << way;
}

}  // namespace

// The words of the policy follow those of the ways, then come the ways' bytes, the hints, and the numbers of taken
// ways.
Cache::Cache(const CacheGeometry& geometry, std::uint64_t* memory)
    : ways_(memory),
      set_mask_(geometry.exists() ? geometry.sets - 1U : 0U),
      way_shift_(static_cast<unsigned>(geometry.exists() ? std::bit_width(unsigned{geometry.ways}) - 1 : 0)),
      sets_(geometry.sets),
      way_count_(geometry.ways),
      byte_words_(static_cast<std::uint16_t>(geometry.replacement == Replacement::lru ? 0 : byte_words_of(geometry))),
      set_bits_(static_cast<std::uint8_t>(geometry.exists() ? std::countr_zero(geometry.sets) : 0)),
      replacement_(geometry.replacement) {
    const std::size_t hints = hints_of(geometry);
    std::uint64_t* after = memory + std::size_t{sets_} * way_count_;
    if (replacement_ != Replacement::lru) {
        policy_ = after;
        bytes_ = after + sets_;
        after = bytes_ + std::size_t{sets_} * byte_words_;
    }
    if (hints != 0) {
        hints_ = reinterpret_cast<std::uint8_t*>(after);
        hint_mask_ = hints - 1;
        after += hints / sizeof(std::uint64_t);
    }
    taken_ = reinterpret_cast<std::uint16_t*>(after);
}

// Most hits that get here are in any way of the set, which no branch predictor predicts: what hits the front of a set
// in the order of use seldom comes here (recent.h). So four ways are compared between two branches.
unsigned Cache::search_words(std::uint64_t line) const {
    const std::uint64_t* const set = set_of(line);
    unsigned way = 0;
    for (; way + 4 <= way_count_; way += 4) {
        const unsigned found = static_cast<unsigned>(is_word_of(set[way], line)) |
                               static_cast<unsigned>(is_word_of(set[way + 1], line)) << 1 |
                               static_cast<unsigned>(is_word_of(set[way + 2], line)) << 2 |
                               static_cast<unsigned>(is_word_of(set[way + 3], line)) << 3;
        if (found != 0) return way + static_cast<unsigned>(std::countr_zero(found));
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

void Cache::make_recent_otherwise(std::uint64_t line, unsigned way) {
    if (replacement_ == Replacement::lru)
        move_to_front(set_of(line), way, way_count_);
    else
        mark_used(policy_of(line), way_count_, way);
}

/// The first way of the set that is free; there is one. Under LRU it need not be the last, because lines are removed
/// from the middle.
unsigned Cache::free_way(std::uint64_t line) {
    const std::uint64_t* const set = set_of(line);
    unsigned way = 0;
    while (present(state_of(set[way]))) ++way;
    return way;
}

void Cache::set_state(std::uint64_t line, LineState state) {
    if (!exists()) return;
    const unsigned way = way_of(line);
    if (way != kAbsent) set_state_in(line, way, state);
}

LineState Cache::remove(std::uint64_t line) {
    const LineState state = find(line);
    if (!present(state)) return state;
    set_of(line)[way_of(line)] = 0;
    --taken_[line & set_mask_];
    return state;
}

}  // namespace anyperf::models
