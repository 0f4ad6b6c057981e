// live_counters.h: the budget of a thread of a run, and the counts of the models. A thread stops when its budget is
// exhausted. Both are in its thread page (run_state.h): other processes may read them at any moment, and the thread may
// be killed between any two instructions, so they must always be valid. Counts of instruction classes are in
// tuple_counts.h.
//
// Budgets and lanes
//
// The problem: a thread must stop at exactly the instruction at which an event overflows. A compare with a limit in
// each segment would cost a load and a compare beside the count.
//
// The mechanism, in processes of which some thread has had a limited budget (Counting::budgeted in translate.h):
// - Instructions are counted downwards, as a budget. A segment of translated code runs entirely or not at all, and
//   subtracts all of its instructions before the first of them. The sign of the result shows whether the budget
//   suffices, so one subtraction counts and checks the limit. What was granted less what remains is the number of
//   instructions that were counted in this way (charged()).
// - The budget is divided among kLanes lanes and a reserve. Consecutive segments use different lanes, because a
//   subtraction from memory waits some eight cycles for the one before it from the same word.
// - A segment whose lane has too little exits before it runs (the budget exit), and dispatch.cpp adds its charge back.
//   If only the lane was exhausted, the rest of the budget is distributed again, most of it to lanes with much recent
//   use. If the whole budget is too small, the agent grants more; if the thread must stop at exactly this count, a
//   shorter block is translated that ends after just the instructions that remain.
// In all other processes segments only count (tuple_counts.h), and check no budget.
//
// The two edges:
// - A segment that is left in the middle (fault, signal, breakpoint) was charged for instructions that do not retire.
//   x86_64/translate/recover.h adds them back, by the block's marks.
// - A reader in another process sees a running segment as retired: it may be ahead by a block. Moves between lanes and
//   reserve change several words; `sequence` makes them a seqlock. A thread that is killed during a move leaves
//   `sequence` odd, so a reader gives up after kReadAttempts and takes what it read last.
//
// What it can't do: only the thread itself writes its budget, so a grant changes only when the thread reaches a
// safepoint.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/load_latencies.h"
#include "models/quantities.h"

namespace anyperf::run {

inline constexpr std::size_t kCounters = 32;  ///< room for the rows of x86_64/decode/classes.h

inline constexpr std::size_t kLanes = 4;  ///< parts of the budget, which consecutive segments use in turn

/// The most instructions that a lane gets at a time; the rest stays in the reserve. A budget exit after so many
/// instructions is too rare to cost anything. share_by_use() relies on the size: all lanes together have 26 bits.
inline constexpr std::int64_t kMaximumLaneBudget = (std::int64_t{1} << 24) - 65536;

/// A budget that is never exhausted.
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;

/// A word of LiveCounters::repeated: stores, loads, and the words that records of them would have had. It becomes
/// negative before a field runs over: an access that repeats has at most one word for each.
struct Repeated {
    static constexpr unsigned kLoads = 24;  ///< where each field begins
    static constexpr unsigned kWords = 48;
    static constexpr std::uint64_t word(std::uint64_t loads, std::uint64_t stores, std::uint64_t words) {
        return stores | loads << kLoads | words << kWords;
    }
    static constexpr std::uint64_t stores(std::uint64_t word) { return word & 0xffffff; }
    static constexpr std::uint64_t loads(std::uint64_t word) { return word >> kLoads & 0xffffff; }
    static constexpr std::uint64_t words(std::uint64_t word) { return word >> kWords; }
};

/// The budget of a thread, and its counts of the models. Translated code subtracts from the lanes in place, without a
/// lock; all else is written by the thread's own engine code.
struct LiveCounters {
    std::int64_t granted;  ///< instructions ever granted
    std::int64_t reserve;  ///< the part of the budget that is in no lane
    /// What the models have counted, while an event wants them. They are fed when the thread comes to the engine, so a
    /// reader in another process may miss some hundred instructions.
    models::Counts modelled;
    std::uint32_t sequence;           ///< odd while write_begin() .. write_end() move counts
    std::int32_t allotted[kLanes];    ///< for each lane: the budget that it was given, plus its use before that, which
                                      ///< note_lane_use() has not moved to `recent_use` yet
    std::int32_t recent_use[kLanes];  ///< instructions that each lane used lately: its weight in share_by_use()
    /// Instructions that may still retire in each lane; negative after a segment that did not fit was charged.
    alignas(64) std::int64_t lane[kLanes];
    models::LoadLatencies load_latencies;  ///< of the loads in `modelled`
    /// Accesses that translated code has found to repeat, and that `modelled` has not taken yet; one word for each
    /// lane.
    std::uint64_t repeated[kLanes];

    /// Instructions that may still retire: of all lanes and the reserve. The sum wraps, as that of charged(): the
    /// broker reads these words, and a program may have overwritten them.
    std::int64_t remaining() const {
        static_assert(kLanes == 4);
        const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
        return static_cast<std::int64_t>(word(__atomic_load_n(&reserve, __ATOMIC_RELAXED)) + word(budget(0)) +
                                         word(budget(1)) + word(budget(2)) + word(budget(3)));
    }
    std::int64_t budget(std::size_t number) const { return __atomic_load_n(&lane[number], __ATOMIC_RELAXED); }

    /// Instructions that were charged to the budget and have retired. Another thread that reads them may count a
    /// running block as retired.
    std::uint64_t charged() const {
        return read_consistent([this] {
            return static_cast<std::uint64_t>(__atomic_load_n(&granted, __ATOMIC_RELAXED)) -
                   static_cast<std::uint64_t>(remaining());
        });
    }

    /// The count of a quantity of the models.
    std::uint64_t modelled_count(std::size_t quantity) const {
        using models::Quantity;
        const std::uint64_t count = __atomic_load_n(&modelled.values[quantity], __ATOMIC_RELAXED);
        const auto is = [quantity](Quantity one) { return quantity == static_cast<std::size_t>(one); };
        if (is(Quantity::load_references) || is(Quantity::loads_from_l1)) return count + repeated_sum(Repeated::loads);
        return is(Quantity::store_references) ? count + repeated_sum(Repeated::stores) : count;
    }
    std::uint64_t repeated_sum(std::uint64_t (*field)(std::uint64_t)) const {
        std::uint64_t sum = 0;
        for (const std::uint64_t& word : repeated) sum += field(__atomic_load_n(&word, __ATOMIC_RELAXED));
        return sum;
    }
    /// The modelled loads that took at least so many cycles.
    std::uint64_t loads_of(unsigned cycles) const {
        return load_latencies.at_least(cycles,
                                       modelled_count(static_cast<std::size_t>(models::Quantity::load_references)));
    }

    // The functions below are for the thread itself.

    /// Adds back one instruction that a segment charged and that did not retire.
    void uncount_instruction() { add_to_budget(0, 1); }
    /// Charges one instruction that retired outside of translated code, to the lane with the largest budget: then no
    /// other lane becomes negative and exits.
    void count_instruction() {
        std::size_t most = 0;
        for (std::size_t i = 1; i < kLanes; ++i)
            if (lane[i] > lane[most]) most = i;
        add_to_budget(most, -1);
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
        constexpr std::int64_t kNothing[kLanes] = {};
        set_budgets(kNothing, all);
    }
    /// Sets the remaining budget to `instructions` and distributes it: lane `favoured` gets at least `needed`, if there
    /// are so many, and the rest is shared by recent use. A loop mostly uses one or two lanes, and each exit for an
    /// exhausted lane costs more than a hundred of its instructions. So an idle lane gets nothing of a short grant.
    /// Precondition: between write_begin() and write_end(), or no other thread reads.
    void distribute_budget(std::int64_t instructions, std::size_t favoured, std::int64_t needed) {
        note_lane_use();
        std::int64_t budget[kLanes] = {};
        if (instructions > needed) share_by_use(instructions, favoured, needed, budget);
        std::int64_t rest = instructions;
        for (const std::int64_t one : budget) rest -= one;
        const std::int64_t room = kMaximumLaneBudget - budget[favoured];
        budget[favoured] += rest < room ? rest : room;
        set_budgets(budget, rest < room ? 0 : rest - room);
    }
    /// The writer's side of the seqlock: a read that overlaps the time between the two is repeated. The fence orders
    /// the writes that follow after the store of the odd number.
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
    void add_to_budget(std::size_t number, std::int64_t instructions) {
        __atomic_store_n(&lane[number], lane[number] + instructions, __ATOMIC_RELAXED);
    }
    /// Sets `recent_use` to what each lane has used since the last time, if enough has retired to recognise a loop. If
    /// not, the use stays in `allotted` and counts the next time.
    void note_lane_use() {
        constexpr std::int64_t kEnoughToJudge = 256;
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < kLanes; ++i) {
            const std::int64_t remaining_in_lane = lane[i];
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
    /// Divides `instructions`, which are more than `needed`, among the lanes by their recent use into `budget`;
    /// `favoured` gets at least `needed`. One 64-bit division serves all lanes, because this runs at each short grant.
    void share_by_use(std::int64_t instructions, std::size_t favoured, std::int64_t needed,
                      std::int64_t* budget) const {
        constexpr auto kAll = static_cast<std::int64_t>(kLanes);
        constexpr unsigned kFraction = 20;  // bits of the quotient's fraction; `all` has at most 26 bits, so 46 in sum
        const std::int64_t all = instructions < kAll * kMaximumLaneBudget ? instructions : kAll * kMaximumLaneBudget;
        const std::int64_t to_each = all >> 14;  // idle lanes, too, get a little of a long grant
        std::int64_t weights = 0;
        for (const std::int32_t one : recent_use) weights += one;
        const std::int64_t alike = weights == 0 ? 1 : 0;
        weights += alike * kAll;
        std::int64_t pool = all - to_each * kAll;
        const bool raised = pool * (recent_use[favoured] + alike) < needed * weights;  // its share would be too small
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
    /// Writes the lanes' budgets and the reserve.
    void set_budgets(const std::int64_t* budget, std::int64_t new_reserve) {
        for (std::size_t i = 0; i < kLanes; ++i) {
            allotted[i] += static_cast<std::int32_t>(budget[i]);
            __atomic_store_n(&lane[i], budget[i], __ATOMIC_RELAXED);
        }
        __atomic_store_n(&reserve, new_reserve, __ATOMIC_RELAXED);
    }
};

}  // namespace anyperf::run
