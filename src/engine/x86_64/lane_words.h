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

/// What a segment adds to the words of a lane. Instructions are taken away from theirs.
struct Additions {
    std::int32_t word[LiveCounters::kWords] = {};

    /// One instruction of these classes.
    constexpr void add(ClassSet classes) {
        for (unsigned left = classes; left != 0; left &= left - 1) {
            const auto id = static_cast<Class>(__builtin_ctz(left));
            word[place_of(id).word] += in_word(id, id == Class::instructions ? -1 : 1);
        }
    }
};

}  // namespace anyperf::engine::x86_64
