// live_counters_test.cpp: the budget is split into lanes and a reserve. Moving it between them neither loses nor
// repeats an instruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "run/run_state.h"

namespace anyperf::engine {
namespace {

class LaneCounters : public testing::Test {
  protected:
    void SetUp() override {
        counters_.granted = kGranted;
        counters_.distribute_budget(kGranted, 0, 0);
    }

    /// Charges one instruction, as a segment of translated code does.
    void run(std::size_t lane) { --counters_.lane[lane]; }

    static constexpr std::int64_t kGranted = std::int64_t{1} << 40;
    run::LiveCounters counters_{};
};

TEST_F(LaneCounters, KeepWhatWasChargedWhenTheBudgetIsDistributed) {
    std::mt19937 random(7);
    for (int i = 0; i < 100000; ++i) {
        run(random() % run::kLanes);
        if (i % 1000 == 0) counters_.distribute_budget(counters_.remaining(), random() % run::kLanes, 64);
        if (i % 1000 > 1) continue;
        EXPECT_EQ(counters_.charged(), static_cast<std::uint64_t>(i) + 1);
    }
}

TEST_F(LaneCounters, ShowInTheirUpperHalfThatTheBudgetIsExhausted) {
    const std::int64_t budget = counters_.lane[1];
    EXPECT_GT(budget, 1 << 20) << "a lane must seldom run out";
    counters_.lane[1] -= budget;
    EXPECT_EQ(counters_.lane[1] >> 32, 0);
    run(1);
    EXPECT_LT(counters_.lane[1], 0) << "the sign that a block tests";
    EXPECT_EQ(counters_.lane[1] >> 32, -1) << "the half that a block tests if it may change no flag";
    counters_.distribute_budget(counters_.remaining(), 1, 64);
    EXPECT_EQ(counters_.charged(), static_cast<std::uint64_t>(budget) + 1);
}

TEST_F(LaneCounters, CanGoBelowZeroWhenAnInstructionIsUncounted) {
    counters_.uncount_instruction();
    EXPECT_EQ(counters_.charged(), ~std::uint64_t{0});
    run(3);
    EXPECT_EQ(counters_.charged(), 0u);
}

TEST_F(LaneCounters, GiveTheFavouredLaneABlocksNeedFromASmallBudget) {
    for (const std::int64_t left : {1, 3, 63, 64, 65, 200, 1000}) {
        counters_.distribute_budget(left, 2, 64);
        EXPECT_EQ(counters_.remaining(), left);
        EXPECT_GE(counters_.lane[2], std::min<std::int64_t>(left, 64));
    }
}

TEST_F(LaneCounters, GiveTheLanesOfALoopNearlyAllOfTheNextBudget) {
    counters_.distribute_budget(10000, 1, 64);
    for (int i = 0; i < 600; ++i) run(i % 3 == 0 ? 1 : 3);
    counters_.distribute_budget(10000, 1, 64);
    EXPECT_EQ(counters_.remaining(), 10000);
    EXPECT_GT(counters_.lane[1], 3300);
    EXPECT_GT(counters_.lane[3], 6500);
    EXPECT_EQ(counters_.lane[0], 0) << "each instruction left in an unused lane makes a sample late";
    counters_.distribute_budget(20, 1, 64);
    counters_.distribute_budget(10000, 1, 64);
    EXPECT_GT(counters_.lane[3], 6500) << "a few instructions do not change the shares";
    counters_.distribute_budget(kGranted, 1, 64);
    EXPECT_GT(counters_.lane[0], 500) << "of a large budget the other lanes get a part, too";
}

/// As a thread does: if a block's lane has too little budget, the budget is distributed again.
TEST_F(LaneCounters, AdaptQuicklyToLanesThatUsedNothingBefore) {
    counters_.distribute_budget(10000, 0, 10);
    for (int i = 0; i < 10000; ++i) run(0);
    counters_.distribute_budget(10000, 0, 10);
    int distributions = 0;
    for (int done = 0; done < 9900; done += 10) {
        const std::size_t lane = done % 20 == 0 ? 1 : 2;
        if (counters_.lane[lane] < 10) {
            counters_.distribute_budget(counters_.remaining(), lane, 10);
            ++distributions;
        }
        for (int i = 0; i < 10; ++i) run(lane);
    }
    EXPECT_LT(distributions, 40) << "in 990 blocks";
    EXPECT_EQ(counters_.remaining(), 100);
}

TEST_F(LaneCounters, SetTheRemainingBudgetWhateverTheLanesHold) {
    run(2);
    for (const std::int64_t wanted :
         {std::int64_t{100}, std::int64_t{0}, std::int64_t{1000000}, kGranted, std::int64_t{7}}) {
        counters_.add_budget(wanted - counters_.remaining());
        EXPECT_EQ(counters_.remaining(), wanted);
        EXPECT_EQ(counters_.charged(), 1u);
        for (const std::int64_t lane : counters_.lane) {
            EXPECT_GE(lane, 0);
            EXPECT_LE(lane, wanted) << "no lane may run beyond the total";
        }
        counters_.distribute_budget(wanted, 3, 64);
    }
}

TEST_F(LaneCounters, GiveABlockItsNeedEvenIfItsLaneUsedLittle) {
    counters_.distribute_budget(10000, 1, 64);
    for (int i = 0; i < 1000; ++i) run(i % 100 == 0 ? 1 : 3);
    counters_.distribute_budget(200, 1, 50);
    EXPECT_GE(counters_.lane[1], 50);
    EXPECT_LE(counters_.lane[1], 60);
    EXPECT_EQ(counters_.remaining(), 200);
}

TEST_F(LaneCounters, ChargeAnExtraInstructionToALaneThatHasBudget) {
    counters_.distribute_budget(5, 2, 64);
    counters_.count_instruction();
    EXPECT_EQ(counters_.remaining(), 4);
    for (const std::int64_t lane : counters_.lane) EXPECT_GE(lane, 0);
}

}  // namespace
}  // namespace anyperf::engine
