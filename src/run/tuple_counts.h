// tuple_counts.h: what a thread has counted.
//
// The problem: a segment of translated code (what runs whole or not at all) changes several counters: instructions,
// branches, loads, stores. An addition to memory for each of them costs more than the segment itself, and one addition
// waits for the last one to the same word.
//
// The mechanism: what a segment adds to all classes that its process counts is a *tuple*. A program has few of them,
// some hundred, since segments are short. So a thread has an array of words, a tuple each, and a segment adds 1 to the
// word of its tuple, however many classes are counted. The count of a class is the sum of words times the tuples'
// amounts. A frequent tuple has several words, which its segments use in turn.
//
// The first kCounters words are of the tuples that have 1 of one class. What is not a whole segment is added there: an
// instruction that ran by itself, or, negatively, what a segment that was left in the middle has not run.
//
// Each thread has its own copy of what its words mean, beside them. So whoever can read the words can sum them up, also
// after the thread was killed, and a program that overwrites them falsifies no counts but those. The thread that
// translates the first segment with a tuple writes the meaning to all threads of its process
// (x86_64/translate/tuple_table.h), before that segment can run. Meanings never change while the thread lives, over
// execve too.
//
// Words only grow, except by what recover.h takes back, and each is written by one instruction. So there is no lock,
// and a thread that is killed at any moment leaves counts that are right to the segment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/live_counters.h"

namespace anyperf::run {

/// Words of a thread. Reading a count takes some 0.2 ns for each that is in use.
inline constexpr std::size_t kTupleWords = 504;

/// What a segment adds to each class, by its row in classes.h; at most the instructions of a block.
struct Tuple {
    std::uint8_t amount[kCounters];
};
static_assert(sizeof(Tuple) == 16);

/// The counts of a thread. The engine maps them after the thread page, so that translated code adds to the words in
/// place.
struct alignas(4096) TupleCounts {
    std::uint64_t word[kTupleWords];  ///< modulo 2^64
    Tuple meaning[kTupleWords];
    std::uint32_t used;  ///< words that have a meaning; 0: the thread has not begun

    /// Words that can be read: a program may have overwritten `used`.
    std::size_t words() const {
        const std::size_t number = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
        return number < kTupleWords ? number : kTupleWords;
    }
    /// The count of a class, by its row in classes.h. Read from outside of the thread it is right to the block.
    std::uint64_t count(std::size_t row) const {
        std::uint64_t sum = 0;
        const std::size_t number = words();
        for (std::size_t i = 0; i < number; ++i)
            sum += __atomic_load_n(&word[i], __ATOMIC_RELAXED) * meaning[i].amount[row];
        return sum;
    }
    /// Adds the counts of all classes to `sums`. The words are read first, at one moment as nearly as possible.
    void add_all_to(std::uint64_t (&sums)[kCounters]) const {
        std::uint64_t at_once[kTupleWords];
        const std::size_t number = words();
        for (std::size_t i = 0; i < number; ++i) at_once[i] = __atomic_load_n(&word[i], __ATOMIC_RELAXED);
        for (std::size_t i = 0; i < number; ++i)
            for (std::size_t row = 0; at_once[i] != 0 && row < kCounters; ++row)
                sums[row] += at_once[i] * meaning[i].amount[row];
    }

    // The functions below are for the engine of the thread's process.

    /// Adds `amount`, which may be negative, to the count of a class. The caller is the thread itself.
    void add(std::size_t row, std::int64_t amount) {
        __atomic_store_n(&word[row], word[row] + static_cast<std::uint64_t>(amount), __ATOMIC_RELAXED);
    }
    /// Gives word `number` its meaning. Words get theirs in order; a reader does not see the word before.
    void set_meaning(std::size_t number, const Tuple& tuple) {
        meaning[number] = tuple;
        __atomic_store_n(&used, static_cast<std::uint32_t>(number + 1), __ATOMIC_RELEASE);
    }
    /// Forgets all counts, before another thread uses the memory.
    void clear() { __atomic_store_n(&used, 0, __ATOMIC_RELEASE); }
};
static_assert(sizeof(TupleCounts) == 12288);

/// The counts of a thread: its page's and its tuples'.
struct ThreadCounts {
    const LiveCounters& live;
    const TupleCounts& tuples;

    /// The count of a class, by its row in classes.h. Instructions are counted by the tuples or by the budget.
    std::uint64_t count(std::size_t row) const { return tuples.count(row) + (row == 0 ? live.charged() : 0); }
    std::uint64_t modelled_count(std::size_t quantity) const { return live.modelled_count(quantity); }
};

/// A copy of a thread's counts.
struct CopiedCounts {
    std::uint64_t of_class[kCounters];
    models::Counts modelled;

    static CopiedCounts of(const ThreadCounts& counts) {
        CopiedCounts copy{};
        copy.of_class[0] = counts.live.charged();
        counts.tuples.add_all_to(copy.of_class);
        for (std::size_t i = 0; i < models::kQuantities; ++i) copy.modelled.values[i] = counts.modelled_count(i);
        return copy;
    }
    std::uint64_t count(std::size_t row) const { return of_class[row]; }
    std::uint64_t modelled_count(std::size_t quantity) const { return modelled.values[quantity]; }
};

}  // namespace anyperf::run
