// lane_words.h: what a segment adds to the words of a lane (run_state.h) that its classes are counted in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/run_state.h"
#include "engine/x86_64/classes.h"

namespace anyperf::engine::x86_64 {

constexpr const CounterPlace& place_of(Class id) {
    return kCounterPlaces[static_cast<std::size_t>(id)];
}

/// What counting `amount` of a class adds to its word.
constexpr std::int32_t in_word(Class id, std::int32_t amount) {
    return amount * (place_of(id).upper ? std::int32_t{1} << kUpperCounter : 1);
}

/// What is added to `word` where `open` are counted and there are `amount_of(class)` of each. Instructions always
/// count: in their word they are taken away.
template <class AmountOf>
std::int32_t addition_to_word(std::size_t word, ClassSet open, AmountOf amount_of) {
    std::int32_t sum = 0;
    for (const ClassRow& row : kClasses) {
        if (place_of(row.id).word != word) continue;
        if (row.id == Class::instructions)
            sum -= in_word(row.id, amount_of(row.id));
        else if ((open & bit(row.id)) != 0)
            sum += in_word(row.id, amount_of(row.id));
    }
    return sum;
}

}  // namespace anyperf::engine::x86_64
