// live_counters.h: the counters of a thread of a run, and the budget at the end of which it stops. They are in its
// thread page (run_state.h), so other processes may read them at any moment, and the thread may be killed between any
// two instructions: they are valid all the same.
//
// Budgets and lanes
//
// The problem: a thread must stop at exactly the instruction at which an event overflows, and every counter must be
// exact and readable from another process, but counting must cost little. The simple way is one counter for each class
// and a compare with a limit. It was rejected: that is several additions and a compare for each basic block, and since
// consecutive blocks add to the same words, each addition to memory waits some eight cycles for the one before.
//
// The mechanism:
// - Instructions are counted downwards, as a budget. A segment of translated code (what runs whole or not at all)
//   subtracts all of its instructions before the first of them; the sign of the result says whether the budget
//   suffices, so the count is the limit check as well. Granted less remaining is the number of retired instructions.
// - There are kLanes lanes of counters, and consecutive segments use different ones, so that an addition seldom waits.
//   Each lane has a part of the budget; what fits into no lane is the reserve.
// - A word of a lane holds two counters, so that one addition counts both. Lanes are drained into `count_of_class` when
//   the budget is distributed anew, which happens before a lower counter can overflow (kMaximumLaneBudget).
// - A segment whose lane has too little exits before it runs (the budget exit), and dispatch.cpp takes the charge back.
//   If only the lane was exhausted the rest is distributed again, most of it to the lanes that were used lately. If the
//   total is too small, the agent grants more, or, when the grant is exact, a shorter block is translated that ends
//   after just the instructions that remain.
//
// The two edges:
// - A segment that is left in the middle (fault, signal, breakpoint) has been charged for instructions that do not
//   retire. x86_64/translate/recover.h takes them back, from the block's marks.
// - A reader in another process sees a running segment as retired: it is right to the block. Moves between lanes,
//   reserve and counters change several words; `sequence` makes them a seqlock. A thread that is killed during a move
//   leaves `sequence` odd, so a reader gives up after kReadAttempts and takes what it has read.
//
// What it can't do: only the thread itself writes its counters, so a grant changes only when the thread reaches a
// safepoint; and a block counts only the classes that were enabled when it was translated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/quantities.h"

namespace anyperf::run {

inline constexpr std::size_t kCounters = 16;  ///< room for the rows of x86_64/decode/classes.h

/// Sets of counters of a thread, which consecutive segments use in turn: an addition to memory waits some eight cycles
/// for the one before it to the same word, and a block often takes two.
inline constexpr std::size_t kLanes = 4;

/// A word of a lane holds two counters, so that one addition counts both: the upper one from this bit on, the lower one
/// below it.
inline constexpr unsigned kUpperCounterShift = 24;
/// The most instructions that a lane is given. An instruction adds at most one to each counter, so the lower ones
/// cannot overflow before the lane is drained; the margin is for segments that are charged and then uncounted.
inline constexpr std::int64_t kMaximumLaneBudget = (std::int64_t{1} << kUpperCounterShift) - 65536;

/// Where a lane counts each class, by its row in classes.h. Classes that are most often counted together share a word.
struct CounterPlace {
    std::uint8_t word;
    bool upper;
};
inline constexpr CounterPlace kCounterPlaces[kCounters] = {
    {0, true},   // instructions: the budget, counted downwards
    {1, true},   // branches
    {2, true},   // conditional
    {2, false},  // taken
    {3, true},   // calls
    {3, false},  // returns
    {4, true},   // indirect
    {4, false},  // far
    {0, false},  // loads
    {1, false},  // stores
    {5, true},   // floating-point
    {5, false},  // vector
    {6, true},   // syscalls
    {6, false},  // updates
    {7, true},  {7, false},
};

/// A budget that is never exhausted.
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;

/// What a thread has counted. Translated code adds to the lanes in place, without a lock; all else is written by the
/// thread's own engine code.
struct LiveCounters {
    static constexpr std::size_t kWords = 8;
    struct Lane {
        std::int64_t word[kWords];

        /// Instructions that may still retire in this lane; negative after a segment that did not fit was charged.
        std::int64_t budget() const { return __atomic_load_n(&word[0], __ATOMIC_RELAXED) >> kUpperCounterShift; }
        /// The half of a word that counts the class of this row of classes.h.
        std::uint64_t count(std::size_t row) const {
            constexpr std::int64_t kLower = (std::int64_t{1} << kUpperCounterShift) - 1;
            const std::int64_t both = __atomic_load_n(&word[kCounterPlaces[row].word], __ATOMIC_RELAXED);
            return static_cast<std::uint64_t>(kCounterPlaces[row].upper ? both >> kUpperCounterShift : both & kLower);
        }
    };

    std::int64_t granted;                     ///< instructions ever granted; less remaining() they have retired
    std::int64_t reserve;                     ///< of what was granted, what is in no lane
    std::uint64_t count_of_class[kCounters];  ///< by Class, modulo 2^64, without what the lanes hold; row 0 is not used
    /// What the models have counted, while an event wants them. They are fed when the thread comes to the engine, so a
    /// reader in another process may miss some hundred instructions.
    models::Counts modelled;
    std::uint32_t sequence;           ///< odd while write_begin() .. write_end() move counts
    std::int32_t allotted[kLanes];    ///< the budget that each lane was given, plus what it used before and that
                                      ///< note_lane_use() has not yet taken over
    std::int32_t recent_use[kLanes];  ///< instructions that each lane used lately: its weight in share_by_use()
    alignas(64) Lane lane[kLanes];

    /// Calls `function` with all lanes as arguments. Unrolled by hand, because it runs at each sample.
    template <class Function>
    auto with_lanes(Function function) const {
        static_assert(kLanes == 4);
        return function(lane[0], lane[1], lane[2], lane[3]);
    }

    /// Instructions that may still retire: of all lanes and the reserve.
    std::int64_t remaining() const {
        return __atomic_load_n(&reserve, __ATOMIC_RELAXED) +
               with_lanes([](const auto&... one) { return (one.budget() + ...); });
    }

    /// Instructions that have retired. Read from outside of the thread it is right to the block.
    std::uint64_t retired() const {
        return read_consistent(
            [this] { return static_cast<std::uint64_t>(__atomic_load_n(&granted, __ATOMIC_RELAXED) - remaining()); });
    }

    /// The count of a class other than instructions, by its row in classes.h.
    std::uint64_t count(std::size_t row) const {
        return read_consistent(
            [this, row] { return __atomic_load_n(&count_of_class[row], __ATOMIC_RELAXED) + sum_of_lanes(row); });
    }

    /// The count of a quantity of the models.
    std::uint64_t modelled_count(std::size_t quantity) const {
        return __atomic_load_n(&modelled.values[quantity], __ATOMIC_RELAXED);
    }

    /// A copy of all counters at one moment.
    LiveCounters snapshot() const {
        LiveCounters all = read_consistent([this] { return *this; });
        all.sequence = 0;
        return all;
    }

    // The functions below are for the thread itself.

    /// Adds `amount`, which may be negative, to the count of a class other than instructions.
    void add(std::size_t row, std::int64_t amount) {
        __atomic_store_n(&count_of_class[row], count_of_class[row] + static_cast<std::uint64_t>(amount),
                         __ATOMIC_RELAXED);
    }
    /// Takes back one instruction that a segment charged and that did not retire.
    void uncount_instruction() { add_to_budget(lane[0], 1); }
    /// Counts one instruction that retired outside of translated code. The lane with the largest budget pays, so that
    /// none becomes negative needlessly.
    void count_instruction() {
        Lane* most = lane;
        for (Lane& one : lane)
            if (one.budget() > most->budget()) most = &one;
        add_to_budget(*most, -1);
    }

    /// Grants `more` instructions, or withdraws them (below 0), but not more than remain. New ones go to the reserve: a
    /// block whose lane is exhausted requests its part from there.
    /// Precondition: between write_begin() and write_end(), or no other thread reads.
    void add_budget(std::int64_t more) {
        const std::int64_t all = remaining() + more;
        __atomic_store_n(&granted, granted + more, __ATOMIC_RELAXED);
        if (reserve + more >= 0) {
            __atomic_store_n(&reserve, reserve + more, __ATOMIC_RELAXED);
            return;
        }
        note_lane_use();
        drain_lanes();
        constexpr std::int64_t kNothing[kLanes] = {};
        set_budgets(kNothing, all);
    }
    /// Sets what remains to `instructions` and distributes it: lane `favoured` gets at least `needed`, if there are so
    /// many; the others share by their recent use. A loop mostly uses one or two lanes, and each exit for an exhausted
    /// lane costs more than a hundred of its instructions. So of a short grant an idle lane gets nothing.
    /// Precondition: between write_begin() and write_end(), or no other thread reads.
    void distribute_budget(std::int64_t instructions, std::size_t favoured, std::int64_t needed) {
        note_lane_use();
        drain_lanes();
        std::int64_t budget[kLanes] = {};
        if (instructions > needed) share_by_use(instructions, favoured, needed, budget);
        std::int64_t rest = instructions;
        for (const std::int64_t one : budget) rest -= one;
        const std::int64_t room = kMaximumLaneBudget - budget[favoured];
        budget[favoured] += rest < room ? rest : room;
        set_budgets(budget, rest < room ? 0 : rest - room);
    }
    /// The writer's side of the seqlock: a reader retries what it read between the two. The fence keeps the writes that
    /// follow after the odd number.
    void write_begin() {
        __atomic_store_n(&sequence, sequence + 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);
    }
    void write_end() { __atomic_store_n(&sequence, sequence + 1, __ATOMIC_RELEASE); }

  private:
    static constexpr unsigned kReadAttempts = 1000;  // a thread that was killed during a move leaves `sequence` odd

    /// The reader's side of the seqlock. After kReadAttempts it returns what it read last.
    template <class Read>
    auto read_consistent(Read read) const -> decltype(read()) {
        decltype(read()) value{};
        for (unsigned tries = 0; tries < kReadAttempts; ++tries) {
            const std::uint32_t before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE);
            value = read();
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (before % 2 == 0 && before == __atomic_load_n(&sequence, __ATOMIC_RELAXED)) break;
        }
        return value;
    }
    static void add_to_budget(Lane& lane, std::int64_t instructions) {
        __atomic_store_n(&lane.word[0], lane.word[0] + instructions * (std::int64_t{1} << kUpperCounterShift),
                         __ATOMIC_RELAXED);
    }
    /// Takes over what each lane has used since the last time as its recent use, once enough has retired to recognise a
    /// loop. Until then it stays in `allotted`, as if it had been given before.
    void note_lane_use() {
        constexpr std::int64_t kEnoughToJudge = 256;
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < kLanes; ++i) {
            const std::int64_t remaining_in_lane = lane[i].budget();
            allotted[i] =
                remaining_in_lane < allotted[i] ? static_cast<std::int32_t>(allotted[i] - remaining_in_lane) : 0;
            sum += allotted[i];
        }
        if (sum < kEnoughToJudge) return;
        for (std::size_t i = 0; i < kLanes; ++i) {
            recent_use[i] = allotted[i];
            allotted[i] = 0;
        }
    }
    /// Divides `instructions`, which are more than `needed`, by the lanes' recent use into `budget`; `favoured` gets at
    /// least `needed`. One 64-bit division for all lanes, since this runs at each short grant.
    void share_by_use(std::int64_t instructions, std::size_t favoured, std::int64_t needed,
                      std::int64_t* budget) const {
        constexpr auto kAll = static_cast<std::int64_t>(kLanes);
        constexpr unsigned kFraction = 20;  // bits of the quotient's fraction; a grant has 26 bits at most
        const std::int64_t all = instructions < kAll * kMaximumLaneBudget ? instructions : kAll * kMaximumLaneBudget;
        const std::int64_t to_each = all >> 14;  // of a long grant idle lanes get something, too
        std::int64_t weights = 0;
        for (const std::int32_t one : recent_use) weights += one;
        const std::int64_t alike = weights == 0 ? 1 : 0;
        weights += alike * kAll;
        std::int64_t pool = all - to_each * kAll;
        const bool raised = pool * (recent_use[favoured] + alike) < needed * weights;
        if (raised) {
            pool -= needed;
            weights -= recent_use[favoured] + alike;
        }
        const auto ratio = (static_cast<std::uint64_t>(pool) << kFraction) / static_cast<std::uint64_t>(weights);
        for (std::size_t i = 0; i < kLanes; ++i) {
            const auto by_use = ratio * static_cast<std::uint64_t>(recent_use[i] + alike) >> kFraction;
            const std::int64_t part = to_each + (raised && i == favoured ? needed : static_cast<std::int64_t>(by_use));
            budget[i] = part < kMaximumLaneBudget ? part : kMaximumLaneBudget;
        }
    }
    /// Writes the lanes' budgets and the reserve. The lower counter of word 0 must have been drained.
    void set_budgets(const std::int64_t* budget, std::int64_t new_reserve) {
        for (std::size_t i = 0; i < kLanes; ++i) {
            allotted[i] += static_cast<std::int32_t>(budget[i]);
            __atomic_store_n(&lane[i].word[0], budget[i] * (std::int64_t{1} << kUpperCounterShift), __ATOMIC_RELAXED);
        }
        __atomic_store_n(&reserve, new_reserve, __ATOMIC_RELAXED);
    }
    /// The row that is counted in this half of a word; 0 for the budget and for an unused half.
    static constexpr std::size_t row_of(std::size_t word, bool upper) {
        for (std::size_t row = 1; row < kCounters; ++row)
            if (kCounterPlaces[row].word == word && kCounterPlaces[row].upper == upper) return row;
        return 0;
    }
    /// Moves what the lanes have counted to count_of_class. Word 0 keeps its budget: set_budgets() writes it.
    void drain_lanes() {
        static constexpr auto kRows = [] {
            struct {
                std::size_t row[kWords][2];
            } rows{};
            for (std::size_t i = 0; i < kWords; ++i)
                for (std::size_t half = 0; half < 2; ++half) rows.row[i][half] = row_of(i, half == 1);
            return rows;
        }();
        for (std::size_t i = 0; i < kWords; ++i) {
            if (with_lanes([i](const auto&... one) { return (one.word[i] | ...); }) == 0)
                continue;  // most words are zero
            for (const std::size_t row : kRows.row[i])
                if (row != 0) add(row, static_cast<std::int64_t>(sum_of_lanes(row)));
            if (i == 0) continue;
            for (Lane& one : lane) __atomic_store_n(&one.word[i], 0, __ATOMIC_RELAXED);
        }
    }
    std::uint64_t sum_of_lanes(std::size_t row) const {
        return with_lanes([row](const auto&... one) { return (one.count(row) + ...); });
    }
};

}  // namespace anyperf::run
