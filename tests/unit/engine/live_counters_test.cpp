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
    EXPECT_EQ(counters_.lane[0].budget(), 0) << "each instruction that is left where nobody runs ends a sample later";
    counters_.leave(20, 1, 64);
    counters_.leave(10000, 1, 64);
    EXPECT_GT(counters_.lane[3].budget(), 6500) << "a short while tells nothing";
    counters_.leave(kGranted, 1, 64);
    EXPECT_GT(counters_.lane[0].budget(), 500) << "of a long grant the other blocks get something, too";
}

/// As threads do that come to a block: who has too few in its lane asks.
TEST_F(Counting, BlocksOfLanesThatTookNothingBeforeAreSoonKnown) {
    counters_.leave(10000, 0, 10);
    for (int i = 0; i < 10000; ++i) run(0, 8);
    counters_.leave(10000, 0, 10);
    int asked = 0;
    for (int done = 0; done < 9900; done += 10) {
        const std::size_t lane = done % 20 == 0 ? 1 : 2;
        if (counters_.lane[lane].budget() < 10) {
            counters_.leave(counters_.left(), lane, 10);
            ++asked;
        }
        for (int i = 0; i < 10; ++i) run(lane, 8);
    }
    EXPECT_LT(asked, 40) << "of 990 blocks";
    EXPECT_EQ(counters_.left(), 100);
}

TEST_F(Counting, AGrantIsOfWhatIsLeftWhateverTheLanesHave) {
    run(2, 8);
    for (const std::int64_t wanted :
         {std::int64_t{100}, std::int64_t{0}, std::int64_t{1000000}, kGranted, std::int64_t{7}}) {
        counters_.grant(wanted - counters_.left());
        EXPECT_EQ(counters_.left(), wanted);
        EXPECT_EQ(counters_.retired(), 1u);
        for (const LiveCounters::Lane& lane : counters_.lane) {
            EXPECT_GE(lane.budget(), 0);
            EXPECT_LE(lane.budget(), wanted) << "nobody runs beyond it";
        }
        counters_.leave(wanted, 3, 64);
    }
    EXPECT_EQ(counters_.count(8), 1u);
}

TEST_F(Counting, ABlockGetsWhatItNeedsEvenIfItsLaneTookLittle) {
    counters_.leave(10000, 1, 64);
    for (int i = 0; i < 1000; ++i) run(i % 100 == 0 ? 1 : 3, 8);
    counters_.leave(200, 1, 50);
    EXPECT_GE(counters_.lane[1].budget(), 50);
    EXPECT_LE(counters_.lane[1].budget(), 60);
    EXPECT_EQ(counters_.left(), 200);
}

TEST_F(Counting, AnInstructionThatNobodyCountedIsTakenFromALaneThatHasOne) {
    counters_.leave(5, 2, 64);
    counters_.take_one();
    EXPECT_EQ(counters_.left(), 4);
    for (const LiveCounters::Lane& lane : counters_.lane) EXPECT_GE(lane.budget(), 0);
}

}  // namespace
}  // namespace anyperf::engine
