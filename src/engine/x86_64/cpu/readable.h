// readable.h: counts that a program reads by rdpmc without leaving translated code.
//
// The problem: the count of an event is a sum over all words of tuples that are in use (run/tuple_counts.h), so reading
// it takes some hundred nanoseconds, and a program that measures itself by rdpmc expects ten.
//
// The mechanism: the first rdpmc of an event leaves translated code. The engine then gives what the event counts, a
// weighted sum of classes, a word of its own, to which all segments translated from here on add
// (x86_64/translate/count.cpp). It gives the thread a slot, which says that rdpmc of the event's number reads that word
// (x86_64/translate/read_counter.cpp). The word begins with the value that the sum has at this moment.
//
// A process has kReadableSums words. What finds none, has more terms or is computed by models of caches and branch
// predictors is always read by leaving translated code, and so is everything in a process with budgets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace anyperf::engine::x86_64 {

/// A weighted sum of counters, by their rows in classes.h.
struct ReadableSum {
    static constexpr std::size_t kTerms = 4;
    std::array<std::int32_t, kTerms> weight{};  ///< 0: the term counts nothing
    std::array<std::uint8_t, kTerms> row{};
    bool operator==(const ReadableSum&) const = default;

    /// How much it grows if row `of` grows by 1.
    std::int32_t weight_of(std::size_t of) const {
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < kTerms; ++i) sum += row[i] == of ? weight[i] : 0;
        return sum;
    }
};

inline constexpr std::size_t kReadableSums = 4;

/// The sums of a process that have words, in the order in which they were first read. None is ever removed.
struct ReadableSums {
    std::size_t count = 0;
    std::array<ReadableSum, kReadableSums> sum{};
};

/// The words of a thread, and what it may read by rdpmc in translated code.
struct ReadableWords {
    /// The events whose numbers have these low bits.
    struct Slot {
        std::uint32_t number;  ///< that rdpmc names
        std::uint32_t word;    ///< offset of the word in Thread
        std::uint64_t shift;   ///< the value is the word's divided by 2^shift
    };
    static constexpr std::size_t kSlots = 8;
    static constexpr std::uint32_t kNoNumber = 0xffffffff;

    std::uint64_t word[kReadableSums];
    Slot slot[kSlots];
    std::uint64_t flags;       ///< the application's status flags, while rdpmc is executed
    const ReadableSums* sums;  ///< of the process, if `word` follows them; null: no word is in use

    /// From here on each rdpmc leaves translated code.
    void close() {
        for (Slot& each : slot) each.number = kNoNumber;
    }
};
static_assert(sizeof(ReadableWords::Slot) == 16);

}  // namespace anyperf::engine::x86_64
