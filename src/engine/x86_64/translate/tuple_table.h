// tuple_table.h: which words of a thread count a segment (run/tuple_counts.h has the idea).
//
// The table belongs to an address space: all threads that run its translations use the same words. It is in the memory
// of the process, so a fork copies it together with the translations. After an execve the engine begins with the
// meanings that the thread's words already have (adopt()), because the thread keeps its words.
//
// The table has room for kTupleWords. When they are used up, a segment with a new tuple adds to two words or more,
// whose tuples are together as much as its own (compose()).
//
// A thread is *attached* while it runs translations of this address space: each new word then gets its meaning in the
// thread's own memory, too, before the segment that needs it exists. During an execve a thread is detached, since a
// vfork's child takes its memory along to another table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine::x86_64 {

/// What a segment adds to the words of its thread.
struct Additions {
    struct Part {
        std::uint16_t word;
        std::uint8_t amount;
    };
    std::array<Part, run::kCounters + 1> part;
    std::size_t count = 0;

    void add(std::size_t word, unsigned amount) {
        part[count++] = {static_cast<std::uint16_t>(word), static_cast<std::uint8_t>(amount)};
    }
};

/// Where a thread has the word.
constexpr std::size_t word_offset(std::size_t word) {
    return offsetof(Thread, tuples) + offsetof(run::TupleCounts, word) + sizeof(std::uint64_t) * word;
}

/// Its memory is zero before begin(). All functions but begin() need the cache's lock.
class TupleTable {
  public:
    /// Words that a frequent tuple has at most. An addition to memory waits for the one before it to the same word.
    static constexpr std::size_t kTurns = 4;

    /// `threads`: the list of the process's threads. `limit`: tuples that get words; 0: as many as fit.
    void begin(Thread* const* threads, std::size_t limit);

    /// Keeps some words for traces. Call it after begin().
    void reserve_for_traces() { reserved_ = (limit_ - run::kCounters) / 4; }
    /// There will be no traces any more: blocks may use the words that were kept.
    void release_reserve() { reserved_ = 0; }

    /// What is counted: blocks may not use the words that are kept for traces, exits of traces only half of them.
    enum class Use { block, trace, trace_exit };

    /// The words for a segment that adds `tuple`. No parts if that is nothing. They have a meaning in the memory of all
    /// attached threads.
    Additions additions_of(const run::Tuple& tuple, Use use = Use::block);

    /// What the word counts.
    const run::Tuple& meaning(std::size_t word) const { return meaning_[word]; }

    /// Begins with what the words of `counts` mean: the thread has had them before an execve. Call it before attach().
    void adopt(const run::TupleCounts& counts);

    /// The thread runs translations from here on, or has been detached: its words get their meanings. `fresh`: they
    /// begin with 0.
    void attach(Thread& thread, bool fresh);
    static void detach(Thread& thread) { thread.attached = false; }

    /// Pages of the table, and of one thread's counts, that have been touched so far.
    std::size_t touched_pages() const {
        constexpr std::size_t kPage = 4096;
        return used_ * (sizeof(std::uint64_t) + 2 * sizeof(run::Tuple)) / kPage + known_used_ * sizeof(Known) / kPage;
    }

  private:
    /// A tuple, and its words: one or several of its own in turn, or, if `composed`, two of other tuples.
    struct Known {
        run::Tuple tuple;
        std::array<std::uint16_t, kTurns> word;
        std::uint8_t turns;
        std::uint8_t next;
        bool composed;
    };
    static constexpr std::size_t kMostKnown = 2048;
    static constexpr std::size_t kSlots = 2 * kMostKnown;

    std::uint16_t& slot_of(const run::Tuple& tuple);
    std::size_t limit_of(Use use) const;
    Known* remember(std::uint16_t& slot, const run::Tuple& tuple);
    Additions words_of(Known& known, Use use);
    std::uint16_t new_word(const run::Tuple& tuple);
    void set_meaning(std::size_t word, const run::Tuple& tuple);
    Additions compose(std::uint16_t& slot, const run::Tuple& tuple, Use use);

    Thread* const* threads_;
    std::size_t limit_;       ///< of words
    std::size_t reserved_;    ///< of them, for traces
    std::size_t used_;        ///< words
    std::size_t known_used_;  ///< known_[0] is not used
    std::array<run::Tuple, run::kTupleWords> meaning_;
    std::array<std::uint16_t, run::kTupleWords> size_;  ///< by word: the sum of its amounts; 0: it has no meaning
    std::array<Known, kMostKnown> known_;
    std::array<std::uint16_t, kSlots> slots_;  ///< by hash: index of known_; 0: free
};

}  // namespace anyperf::engine::x86_64
