// live_counters_test.cpp: each word of a lane holds two counters, and the budget is split into lanes and a reserve.
// Moving counts or budget between them neither loses nor repeats an instruction.
#include <gtest/gtest.h>

#include <random>

#include "engine/x86_64/decode/classes.h"
#include "run/run_state.h"

namespace anyperf::engine {
namespace {

constexpr std::int64_t kInstruction = std::int64_t{1} << run::kUpperCounterShift;

class LaneCounters : public testing::Test {
  protected:
    void SetUp() override {
        counters_.granted = kGranted;
        counters_.distribute_budget(kGranted, 0, 0);
    }

    /// Counts as a segment of translated code does: one instruction, which is also of the class `row`.
    void run(std::size_t lane, std::size_t row) {
        counters_.lane[lane].word[0] -= kInstruction;
        counters_.lane[lane].word[run::kCounterPlaces[row].word] += run::kCounterPlaces[row].upper ? kInstruction : 1;
    }

    static constexpr std::int64_t kGranted = std::int64_t{1} << 40;
    run::LiveCounters counters_{};
};

TEST_F(LaneCounters, HaveASeparatePlaceForEveryClass) {
    for (std::size_t a = 0; a < run::kCounters; ++a)
        for (std::size_t b = 0; b < a; ++b)
            EXPECT_FALSE(run::kCounterPlaces[a].word == run::kCounterPlaces[b].word &&
                         run::kCounterPlaces[a].upper == run::kCounterPlaces[b].upper)
                << a << " and " << b;
    EXPECT_LE(x86_64::kClassCount, run::kCounters);
}

TEST_F(LaneCounters, KeepTheirCountsWhenTheBudgetIsDistributed) {
    std::mt19937 random(7);
    std::uint64_t expected[run::kCounters] = {};
    for (int i = 0; i < 100000; ++i) {
        const std::size_t row = 1 + random() % (run::kCounters - 1);
        run(random() % run::kLanes, row);
        ++expected[row];
        if (i % 1000 == 0) counters_.distribute_budget(counters_.remaining(), random() % run::kLanes, 64);
        if (i % 1000 > 1) continue;
        EXPECT_EQ(counters_.retired(), static_cast<std::uint64_t>(i) + 1);
        for (std::size_t other = 1; other < run::kCounters; ++other) EXPECT_EQ(counters_.count(other), expected[other]);
    }
}

TEST_F(LaneCounters, RunOutOfBudgetBeforeTheLowerCounterOverflows) {
    const std::int64_t budget = counters_.lane[1].budget();
    EXPECT_LT(budget + 64, kInstruction);
    EXPECT_GT(budget, 1 << 20) << "a lane must seldom run out";
    for (std::int64_t i = 0; i < budget; ++i) run(1, 8);
    EXPECT_EQ(counters_.lane[1].budget(), 0);
    EXPECT_EQ(counters_.count(8), static_cast<std::uint64_t>(budget));
    run(1, 8);
    EXPECT_LT(counters_.lane[1].word[0], 0) << "the sign that a block tests";
    EXPECT_EQ(counters_.lane[1].word[0] >> 32, -1) << "the half that a block tests if it may change no flag";
    counters_.distribute_budget(counters_.remaining(), 1, 64);
    EXPECT_EQ(counters_.count(8), static_cast<std::uint64_t>(budget) + 1);
    EXPECT_EQ(counters_.retired(), static_cast<std::uint64_t>(budget) + 1);
}

TEST_F(LaneCounters, CanGoBelowZeroWhenAnInstructionIsUncounted) {
    counters_.add(8, -1);
    counters_.uncount_instruction();
    EXPECT_EQ(counters_.count(8), ~std::uint64_t{0});
    EXPECT_EQ(counters_.retired(), ~std::uint64_t{0});
    run(3, 8);
    EXPECT_EQ(counters_.count(8), 0u);
    EXPECT_EQ(counters_.retired(), 0u);
}

TEST_F(LaneCounters, GiveTheFavouredLaneABlocksNeedFromASmallBudget) {
    for (const std::int64_t left : {1, 3, 63, 64, 65, 200, 1000}) {
        counters_.distribute_budget(left, 2, 64);
        EXPECT_EQ(counters_.remaining(), left);
        EXPECT_GE(counters_.lane[2].budget(), std::min<std::int64_t>(left, 64));
    }
}

TEST_F(LaneCounters, GiveTheLanesOfALoopNearlyAllOfTheNextBudget) {
    counters_.distribute_budget(10000, 1, 64);
    for (int i = 0; i < 600; ++i) run(i % 3 == 0 ? 1 : 3, 8);
    counters_.distribute_budget(10000, 1, 64);
    EXPECT_EQ(counters_.remaining(), 10000);
    EXPECT_GT(counters_.lane[1].budget(), 3300);
    EXPECT_GT(counters_.lane[3].budget(), 6500);
    EXPECT_EQ(counters_.lane[0].budget(), 0) << "each instruction left in an unused lane makes a sample late";
    counters_.distribute_budget(20, 1, 64);
    counters_.distribute_budget(10000, 1, 64);
    EXPECT_GT(counters_.lane[3].budget(), 6500) << "a few instructions do not change the shares";
    counters_.distribute_budget(kGranted, 1, 64);
    EXPECT_GT(counters_.lane[0].budget(), 500) << "of a large budget the other lanes get a part, too";
}

/// As a thread does: if a block's lane has too little budget, the budget is distributed again.
TEST_F(LaneCounters, AdaptQuicklyToLanesThatUsedNothingBefore) {
    counters_.distribute_budget(10000, 0, 10);
    for (int i = 0; i < 10000; ++i) run(0, 8);
    counters_.distribute_budget(10000, 0, 10);
    int distributions = 0;
    for (int done = 0; done < 9900; done += 10) {
        const std::size_t lane = done % 20 == 0 ? 1 : 2;
        if (counters_.lane[lane].budget() < 10) {
            counters_.distribute_budget(counters_.remaining(), lane, 10);
            ++distributions;
        }
        for (int i = 0; i < 10; ++i) run(lane, 8);
    }
    EXPECT_LT(distributions, 40) << "in 990 blocks";
    EXPECT_EQ(counters_.remaining(), 100);
}

TEST_F(LaneCounters, SetTheRemainingBudgetWhateverTheLanesHold) {
    run(2, 8);
    for (const std::int64_t wanted :
         {std::int64_t{100}, std::int64_t{0}, std::int64_t{1000000}, kGranted, std::int64_t{7}}) {
        counters_.add_budget(wanted - counters_.remaining());
        EXPECT_EQ(counters_.remaining(), wanted);
        EXPECT_EQ(counters_.retired(), 1u);
        for (const run::LiveCounters::Lane& lane : counters_.lane) {
            EXPECT_GE(lane.budget(), 0);
            EXPECT_LE(lane.budget(), wanted) << "no lane may run beyond the total";
        }
        counters_.distribute_budget(wanted, 3, 64);
    }
    EXPECT_EQ(counters_.count(8), 1u);
}

TEST_F(LaneCounters, GiveABlockItsNeedEvenIfItsLaneUsedLittle) {
    counters_.distribute_budget(10000, 1, 64);
    for (int i = 0; i < 1000; ++i) run(i % 100 == 0 ? 1 : 3, 8);
    counters_.distribute_budget(200, 1, 50);
    EXPECT_GE(counters_.lane[1].budget(), 50);
    EXPECT_LE(counters_.lane[1].budget(), 60);
    EXPECT_EQ(counters_.remaining(), 200);
}

TEST_F(LaneCounters, ChargeAnExtraInstructionToALaneThatHasBudget) {
    counters_.distribute_budget(5, 2, 64);
    counters_.count_instruction();
    EXPECT_EQ(counters_.remaining(), 4);
    for (const run::LiveCounters::Lane& lane : counters_.lane) EXPECT_GE(lane.budget(), 0);
}

}  // namespace
}  // namespace anyperf::engine
