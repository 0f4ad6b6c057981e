// live_counters_test.cpp: two counters in a word of a lane, the budget in lanes and a reserve: what is moved between
// them is neither lost nor counted twice.
#include <gtest/gtest.h>

#include <random>

#include "engine/run_state.h"
#include "engine/x86_64/classes.h"

namespace anyperf::engine {
namespace {

constexpr std::int64_t kInstruction = std::int64_t{1} << kUpperCounter;

class Counting : public testing::Test {
  protected:
    void SetUp() override {
        counters_.granted = kGranted;
        counters_.leave(kGranted, 0, 0);
    }

    /// As a segment of translated code: one instruction of each class that it counts.
    void run(std::size_t lane, std::size_t row) {
        counters_.lane[lane].word[0] -= kInstruction;
        counters_.lane[lane].word[kCounterPlaces[row].word] += kCounterPlaces[row].upper ? kInstruction : 1;
    }

    static constexpr std::int64_t kGranted = std::int64_t{1} << 40;
    LiveCounters counters_{};
};

TEST_F(Counting, EveryClassHasAPlaceOfItsOwn) {
    for (std::size_t a = 0; a < kCounters; ++a)
        for (std::size_t b = 0; b < a; ++b)
            EXPECT_FALSE(kCounterPlaces[a].word == kCounterPlaces[b].word &&
                         kCounterPlaces[a].upper == kCounterPlaces[b].upper)
                << a << " and " << b;
    EXPECT_LE(x86_64::kClassCount, kCounters);
}

TEST_F(Counting, WhatRetiresIsTheSameBeforeAndAfterItHasBeenMoved) {
    std::mt19937 random(7);
    std::uint64_t expected[kCounters] = {};
    for (int i = 0; i < 100000; ++i) {
        const std::size_t row = 1 + random() % (kCounters - 1);
        run(random() % kLanes, row);
        ++expected[row];
        if (i % 1000 == 0) counters_.leave(counters_.left(), random() % kLanes, 64);
        if (i % 1000 > 1) continue;
        EXPECT_EQ(counters_.retired(), static_cast<std::uint64_t>(i) + 1);
        for (std::size_t other = 1; other < kCounters; ++other) EXPECT_EQ(counters_.count(other), expected[other]);
    }
}

TEST_F(Counting, ALaneIsEmptiedBeforeItsLowerCounterRunsOver) {
    const std::int64_t budget = counters_.lane[1].budget();
    EXPECT_LT(budget + 64, kInstruction);
    EXPECT_GT(budget, 1 << 20) << "to be emptied is seldom";
    for (std::int64_t i = 0; i < budget; ++i) run(1, 8);
    EXPECT_EQ(counters_.lane[1].budget(), 0);
    EXPECT_EQ(counters_.count(8), static_cast<std::uint64_t>(budget));
    run(1, 8);
    EXPECT_LT(counters_.lane[1].word[0], 0) << "what a block looks at";
    EXPECT_EQ(counters_.lane[1].word[0] >> 32, -1) << "what a block looks at that may touch no flag";
    counters_.leave(counters_.left(), 1, 64);
    EXPECT_EQ(counters_.count(8), static_cast<std::uint64_t>(budget) + 1);
    EXPECT_EQ(counters_.retired(), static_cast<std::uint64_t>(budget) + 1);
}

TEST_F(Counting, WhatIsTakenBackMayBeMoreThanALaneHas) {
    counters_.add(8, -1);
    counters_.give_back();
    EXPECT_EQ(counters_.count(8), ~std::uint64_t{0});
    EXPECT_EQ(counters_.retired(), ~std::uint64_t{0});
    run(3, 8);
    EXPECT_EQ(counters_.count(8), 0u);
    EXPECT_EQ(counters_.retired(), 0u);
}

TEST_F(Counting, TheFavouredLaneGetsWhatABlockNeedsOfASmallGrant) {
    for (const std::int64_t left : {1, 3, 63, 64, 65, 200, 1000}) {
        counters_.leave(left, 2, 64);
        EXPECT_EQ(counters_.left(), left);
        EXPECT_GE(counters_.lane[2].budget(), std::min<std::int64_t>(left, 64));
    }
}

TEST_F(Counting, ALoopsLanesGetNearlyAllOfTheNextGrant) {
    counters_.leave(10000, 1, 64);
    for (int i = 0; i < 600; ++i) run(i % 3 == 0 ? 1 : 3, 8);
    counters_.leave(10000, 1, 64);
    EXPECT_EQ(counters_.left(), 10000);
    EXPECT_GT(counters_.lane[1].budget(), 3300);
    EXPECT_GT(counters_.lane[3].budget(), 6500);
    EXPECT_GT(counters_.lane[0].budget(), 0) << "the other blocks get something, too";
    counters_.leave(20, 1, 64);
    counters_.leave(10000, 1, 64);
    EXPECT_GT(counters_.lane[3].budget(), 6500) << "a short while tells nothing";
}

TEST_F(Counting, AnInstructionThatNobodyCountedIsTakenFromALaneThatHasOne) {
    counters_.leave(5, 2, 64);
    counters_.take_one();
    EXPECT_EQ(counters_.left(), 4);
    for (const LiveCounters::Lane& lane : counters_.lane) EXPECT_GE(lane.budget(), 0);
}

}  // namespace
}  // namespace anyperf::engine
