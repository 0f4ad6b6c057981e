// lane_words.h: what a segment adds to the words of a lane. A lane is a set of counters of a thread, two classes in
// each word, so that one addition to memory counts both (LiveCounters in live_counters.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/x86_64/decode/classes.h"
#include "run/run_state.h"

namespace anyperf::engine::x86_64 {

constexpr const run::CounterPlace& place_of(Class id) {
    return run::kCounterPlaces[static_cast<std::size_t>(id)];
}

/// `amount` of a class, shifted to the half of the word in which the class is counted.
constexpr std::int32_t shifted_into_word(Class id, std::int32_t amount) {
    return amount * (place_of(id).upper ? std::int32_t{1} << run::kUpperCounterShift : 1);
}

/// The classes that are counted in one word: the inverse of kCounterPlaces.
struct ClassesOfWord {
    Class id[2] = {};
    std::size_t count = 0;
};
inline constexpr auto kClassesOfWord = [] {
    std::array<ClassesOfWord, run::LiveCounters::kWords> words{};
    for (const ClassRow& row : kClasses) {
        ClassesOfWord& word = words[place_of(row.id).word];
        word.id[word.count++] = row.id;
    }
    return words;
}();

/// What one instruction of `classes` adds to a word while `open` are counted. Instructions are always counted, as a
/// negative number: their half of word 0 is the budget. Written without a branch, since each translation runs it for
/// each instruction and word.
template <std::size_t kWord>
std::int32_t addition_of_one(ClassSet open, ClassSet classes) {
    constexpr ClassesOfWord kOf = kClassesOfWord[kWord];
    const auto counted = static_cast<unsigned>(classes & (open | bit(Class::instructions)));
    const auto part = [counted](Class id) {
        const auto one = static_cast<std::int32_t>(counted >> static_cast<unsigned>(id) & 1u);
        return shifted_into_word(id, id == Class::instructions ? -one : one);
    };
    return (kOf.count > 0 ? part(kOf.id[0]) : 0) + (kOf.count > 1 ? part(kOf.id[1]) : 0);
}

/// What a segment adds to each word of its lane; word 0 is negative or 0.
struct Additions {
    std::int32_t word[run::LiveCounters::kWords] = {};

    /// Adds one instruction of `classes` while `open` are counted.
    void add(ClassSet open, ClassSet classes) {
        [&]<std::size_t... kWord>(std::index_sequence<kWord...>) {
            ((word[kWord] += addition_of_one<kWord>(open, classes)), ...);
        }(std::make_index_sequence<run::LiveCounters::kWords>());
    }
};

}  // namespace anyperf::engine::x86_64
