#include "models/caches/first_level.h"

#include <bit>

namespace anyperf::models {

FirstLevel::FirstLevel(const CacheGeometry& geometry, std::uint64_t* memory, std::uint64_t& clock, bool any_state)
    : clock_(&clock),
      set_mask_(geometry.exists() ? geometry.sets - 1U : 0U),
      sets_(geometry.sets),
      way_count_(geometry.ways),
      set_bits_(static_cast<std::uint8_t>(geometry.exists() ? std::countr_zero(geometry.sets) : 0)),
      has_bytes_(geometry.exists() && geometry.ways <= kMostByteWays && geometry.replacement != Replacement::lru),
      any_state_(any_state),
      replacement_(geometry.replacement) {
    const std::size_t lines = lines_of(geometry);
    const auto take = [&memory](std::size_t words) {
        std::uint64_t* const part = memory;
        memory += words;
        return part;
    };
    entries_ = take(kEntryWords * lines);
    used_ = take(sets_);
    bytes_ = take(sets_);
    for (std::size_t i = 0; i < lines; ++i)
        entries_[kEntryWords * i + kLoads] = entries_[kEntryWords * i + kStores] = kNone;
    const std::size_t hints = hints_of(geometry);
    auto* const of_lines = reinterpret_cast<std::uint16_t*>(take(hint_words_of(geometry)));
    taken_ = reinterpret_cast<std::uint16_t*>(memory);
    if (hints == 0) return;
    // A hint always leads to the line's own set: segment_code.cpp relies on it.
    hints_ = of_lines;
    hint_mask_ = hints - 1;
    for (std::size_t i = 0; i < hints; ++i) hints_[i] = static_cast<std::uint16_t>(first_of(i & set_mask_));
}

FirstLevel::Places FirstLevel::places(const void* from) const {
    if (hints_ == nullptr) return {};
    const auto offset_of = [from](const void* part) {
        return static_cast<const char*>(part) - static_cast<const char*>(from);
    };
    return {.hinted = true,
            .hints = offset_of(hints_),
            .loads = offset_of(entries_ + kLoads),
            .stores = offset_of(entries_ + kStores),
            .times = offset_of(entries_ + kTime),
            .hint_mask = hint_mask_};
}

FirstLevel::Place FirstLevel::search(std::uint64_t line) const {
    const Place first = first_of(line & set_mask_);
    Place found = kAbsent;
    for (Place place = first; place != first + kEntryWords * way_count_; place += kEntryWords)
        found = is_word_of(entries_[place], line) ? place : found;
    if (found != kAbsent && hints_ != nullptr) hints_[line & hint_mask_] = static_cast<std::uint16_t>(found);
    return found;
}

/// Marks a way as used. If all are marked then, the others lose their marks, and the next hits there are not plain.
void FirstLevel::mark_used(Place place, std::uint64_t set) {
    const Place first = first_of(set);
    const std::uint64_t own = std::uint64_t{1} << (place - first) / kEntryWords;
    const std::uint64_t all = way_count_ == 64 ? kNone : (std::uint64_t{1} << way_count_) - 1;
    const std::uint64_t before = used_[set];
    used_[set] |= own;
    if (used_[set] == all) used_[set] = own;
    if (used_[set] == before) return;
    for (unsigned way = 0; way < way_count_; ++way) put(first + kEntryWords * way, entries_[first + kEntryWords * way]);
}

LineState FirstLevel::remove(std::uint64_t line) {
    const Place place = place_of(line);
    if (place == kAbsent) return LineState::invalid;
    const LineState state = state_at(place);
    put(place, 0);
    --taken_[line & set_mask_];
    return state;
}

unsigned FirstLevel::victim_of(std::uint64_t set) const {
    const std::uint64_t* const times = entries_ + first_of(set) + kTime;
    switch (replacement_) {
        case Replacement::lru: break;
        case Replacement::tree_plru:
            switch (way_count_) {
                case 2: return tree_victim<2>(times).way;
                case 4: return tree_victim<4>(times).way;
                case 16: return tree_victim<16>(times).way;
                case 32: return tree_victim<32>(times).way;
                default: return 0;
            }
        case Replacement::not_recently_used: {
            // If the set has a single way, its mark is always set.
            const auto way = static_cast<unsigned>(std::countr_one(used_[set]));
            return way < way_count_ ? way : 0;
        }
    }
    return oldest_of(times, way_count_);
}

/// The first way of the set that is free; there is one.
unsigned FirstLevel::free_way(std::uint64_t set) const {
    const std::uint64_t* const words = entries_ + first_of(set);
    unsigned way = 0;
    while (present(state_of(words[std::size_t{kEntryWords} * way]))) ++way;
    return way;
}

}  // namespace anyperf::models
