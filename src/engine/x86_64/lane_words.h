// lane_words.h: what a segment adds to the words of a lane (run_state.h) that its classes are counted in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

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

/// The classes that are counted in a word: two at most.
struct ClassesOfWord {
    Class id[2] = {};
    std::size_t count = 0;
};
inline constexpr auto kClassesOfWord = [] {
    std::array<ClassesOfWord, LiveCounters::kWords> words{};
    for (const ClassRow& row : kClasses) {
        ClassesOfWord& word = words[place_of(row.id).word];
        word.id[word.count++] = row.id;
    }
    return words;
}();

/// What one instruction of `classes` adds to a word where `open` are counted: without a branch.
template <std::size_t kWord>
std::int32_t addition_of_one(ClassSet open, ClassSet classes) {
    constexpr ClassesOfWord kOf = kClassesOfWord[kWord];
    const auto counted = static_cast<unsigned>(classes & (open | bit(Class::instructions)));
    const auto part = [counted](Class id) {
        const auto one = static_cast<std::int32_t>(counted >> static_cast<unsigned>(id) & 1u);
        return in_word(id, id == Class::instructions ? -one : one);
    };
    return (kOf.count > 0 ? part(kOf.id[0]) : 0) + (kOf.count > 1 ? part(kOf.id[1]) : 0);
}

/// What a segment adds to the words of a lane where `open` are counted. Instructions are taken away from theirs.
struct Additions {
    std::int32_t word[LiveCounters::kWords] = {};

    /// One instruction of these classes.
    void add(ClassSet open, ClassSet classes) {
        [&]<std::size_t... kWord>(std::index_sequence<kWord...>) {
            ((word[kWord] += addition_of_one<kWord>(open, classes)), ...);
        }(std::make_index_sequence<LiveCounters::kWords>());
    }
};

}  // namespace anyperf::engine::x86_64
