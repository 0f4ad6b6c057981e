// tuple_counts.h: the counts of instruction classes of a thread.
//
// The problem: a segment of translated code, which runs entirely or not at all, changes several counters: instructions,
// branches, loads, stores. An addition to memory for each of them costs more than the segment itself, and each addition
// waits for the last one to the same word.
//
// The mechanism: a *tuple* is what a segment adds to all classes that its process counts. Segments are short, so a
// program has only some hundred different tuples. A thread has an array of words, one for each tuple, and a segment
// adds 1 to the word of its tuple, however many classes are counted. The count of a class is the sum over all words of
// the word times the tuple's amount of that class. A frequent tuple has several words, which its segments use in turn.
//
// Each of the first kCounters words counts 1 of one class. They take what is not a whole segment: an instruction that
// ran by itself, or, with a negative sign, the instructions that a segment did not run because it was left in the
// middle.
//
// Each thread has its own copy of the meanings of its words, next to them. So any reader of the words can add them up,
// also after the thread was killed, and a program that overwrites them falsifies no other counts. The thread that
// translates the first segment with a tuple writes the meaning to all threads of its process
// (x86_64/translate/tuple_table.h) before that segment can run. Meanings do not change while the thread lives, not even
// at an execve.
//
// Words only grow, except for what recover.h subtracts, and one instruction writes each. So there is no lock, and a
// thread that is killed at any moment leaves counts that are exact to the segment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/live_counters.h"

namespace anyperf::run {

/// Words of a thread. A read of a count takes some 0.2 ns for each word in use.
inline constexpr std::size_t kTupleWords = 504;

inline constexpr unsigned kLargestAmount = 127;

/// What a segment adds to each counter, by its row in classes.h: each amount is at most kLargestAmount.
struct Tuple {
    std::uint8_t amount[kCounters];
};
static_assert(sizeof(Tuple) == 32);

/// The counts of a thread. The engine maps them after the thread page, so that translated code adds to the words in
/// place.
struct alignas(4096) TupleCounts {
    std::uint64_t word[kTupleWords];  ///< modulo 2^64
    /// By counter, so that a read of one counter passes over few cache lines.
    std::uint8_t amount[kCounters][kTupleWords];
    std::uint32_t used;  ///< words that have a meaning; 0: the thread has not begun
    /// A bit for each counter to which a word after the first kCounters adds. The count of another is its one word.
    std::uint32_t summed;

    /// `used`, limited to the array: a program may have overwritten it.
    std::size_t words() const {
        const std::size_t number = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
        return number < kTupleWords ? number : kTupleWords;
    }
    /// The count of a class, by its row in classes.h. Another thread that reads it may count a running block as
    /// retired.
    std::uint64_t count(std::size_t row) const {
        const std::size_t number = words();
        if (!is_sum(row)) return row < number ? __atomic_load_n(&word[row], __ATOMIC_RELAXED) : 0;
        std::uint64_t sum = 0;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < number; ++i) sum += __atomic_load_n(&word[i], __ATOMIC_RELAXED) * amount[row][i];
        return sum;
    }
    /// Adds the counts of all classes to `sums`. It copies the words first, so that they are of nearly the same moment.
    void add_all_to(std::uint64_t (&sums)[kCounters]) const {
        std::uint64_t at_once[kTupleWords];
        const std::size_t number = words();
        for (std::size_t i = 0; i < number; ++i) at_once[i] = __atomic_load_n(&word[i], __ATOMIC_RELAXED);
        for (std::size_t row = 0; row < kCounters && row < number; ++row) {
            const std::size_t first = is_sum(row) ? 0 : row;
            const std::size_t last = is_sum(row) ? number : row + 1;
            for (std::size_t i = first; i < last; ++i) sums[row] += at_once[i] * amount[row][i];
        }
    }
    /// Whether several words add to the counter.
    bool is_sum(std::size_t row) const { return (__atomic_load_n(&summed, __ATOMIC_RELAXED) >> row & 1u) != 0; }

    // The functions below are for the engine of the thread's process.

    /// Adds `amount`, which may be negative, to the count of a class. The caller is the thread itself.
    void add(std::size_t row, std::int64_t more) {
        __atomic_store_n(&word[row], word[row] + static_cast<std::uint64_t>(more), __ATOMIC_RELAXED);
    }
    /// Gives word `number` its meaning. Precondition: all words before it have theirs. Readers see the word afterwards.
    void set_meaning(std::size_t number, const Tuple& tuple) {
        std::uint32_t rows = 0;
        for (std::size_t row = 0; row < kCounters; ++row) {
            amount[row][number] = tuple.amount[row];
            if (tuple.amount[row] != 0) rows |= 1u << row;
        }
        if (number >= kCounters) __atomic_store_n(&summed, summed | rows, __ATOMIC_RELAXED);
        __atomic_store_n(&used, static_cast<std::uint32_t>(number + 1), __ATOMIC_RELEASE);
    }
    Tuple meaning(std::size_t number) const {
        Tuple tuple;
        for (std::size_t row = 0; row < kCounters; ++row) tuple.amount[row] = amount[row][number];
        return tuple;
    }
    /// Hides all counts, before another thread uses the memory.
    void clear() { __atomic_store_n(&used, 0, __ATOMIC_RELEASE); }
};
static_assert(sizeof(TupleCounts) == 20480);

/// The counts of a thread: those in its thread page and those of its tuples.
struct ThreadCounts {
    const LiveCounters& live;
    const TupleCounts& tuples;
    /// The instructions that the tuples have counted, if that sum does not change any more; else null.
    const std::uint64_t* settled_instructions = nullptr;

    /// The count of a class, by its row in classes.h. Instructions (row 0) are counted by tuples while the process has
    /// no budgets, and by the budget from then on; the count is the sum.
    std::uint64_t count(std::size_t row) const {
        if (row != 0) return tuples.count(row);
        return (settled_instructions != nullptr ? *settled_instructions : tuples.count(row)) + live.charged();
    }
    std::uint64_t modelled_count(std::size_t quantity) const { return live.modelled_count(quantity); }
    std::uint64_t loads_of(unsigned cycles) const { return live.loads_of(cycles); }
};

/// The counts of a thread that does not run meanwhile, for several reads: each class is summed up once.
class CountsOfMoment {
  public:
    explicit CountsOfMoment(const ThreadCounts& counts) : counts_(counts) {}

    std::uint64_t count(std::size_t row) {
        if ((known_ >> row & 1u) == 0) {
            known_ |= 1u << row;
            of_class_[row] = counts_.count(row);
        }
        return of_class_[row];
    }
    std::uint64_t modelled_count(std::size_t quantity) const { return counts_.modelled_count(quantity); }
    std::uint64_t loads_of(unsigned cycles) const { return counts_.loads_of(cycles); }

  private:
    ThreadCounts counts_;
    std::uint32_t known_ = 0;
    std::uint64_t of_class_[kCounters];  ///< of the rows in known_
};

/// A copy of a thread's counts.
struct CopiedCounts {
    std::uint64_t of_class[kCounters];
    models::Counts modelled;
    models::LoadLatencies load_latencies;

    static CopiedCounts of(const ThreadCounts& counts) {
        CopiedCounts copy{};
        copy.of_class[0] = counts.live.charged();
        counts.tuples.add_all_to(copy.of_class);
        for (std::size_t i = 0; i < models::kQuantities; ++i) copy.modelled.values[i] = counts.modelled_count(i);
        copy.load_latencies = counts.live.load_latencies;
        return copy;
    }
    std::uint64_t count(std::size_t row) const { return of_class[row]; }
    std::uint64_t modelled_count(std::size_t quantity) const { return modelled.values[quantity]; }
    std::uint64_t loads_of(unsigned cycles) const {
        return load_latencies.at_least(cycles, modelled[models::Quantity::load_references]);
    }
};

}  // namespace anyperf::run
