// count_test.cpp: counts are scaled by their times, summed over places, and subtracted over intervals.
#include "anyperf/count.h"

#include <gtest/gtest.h>

#include <limits>

namespace anyperf::counting {
namespace {

TEST(Count, OfAnEventThatAlwaysRanIsExact) {
    const Count count = make_count(123, 50, 50, 4);
    EXPECT_EQ(count, (Count{.raw = 123, .value = 123, .enabled_ns = 50, .running_ns = 50, .lost = 4}));
    EXPECT_TRUE(count.counted());
}

TEST(Count, OfAnEventThatRanPartOfTheTimeIsScaledAndMarked) {
    const Count count = make_count(100, 300, 100);
    EXPECT_EQ(count.raw, 100);
    EXPECT_EQ(count.value, 300);
    EXPECT_TRUE(count.scaled);
}

TEST(Count, OfAnEventThatNeverRanIsNotCounted) {
    EXPECT_FALSE(make_count(0, 300, 0).counted());
    EXPECT_TRUE(make_count(0, 300, 0).scaled);
    EXPECT_FALSE(make_count(0, 0, 0).counted());
}

TEST(Count, ScalingOfLargeNumbersDoesNotOverflow) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(make_count(std::uint64_t{1} << 62, 3'000'000'000'000, 1'500'000'000'000).value, std::uint64_t{1} << 63);
    EXPECT_EQ(make_count(kMost, kMost, 1).value, kMost);
}

TEST(Count, SumAddsTheScaledValueOfEachPlace) {
    const Count sum = make_count(100, 300, 100) + make_count(10, 100, 100);
    EXPECT_EQ(sum.value, 310);
    EXPECT_EQ(sum.raw, 110);
    EXPECT_TRUE(sum.scaled);
}

TEST(Count, IntervalIsScaledByItsOwnTimes) {
    const Count first = make_count(100, 100, 100);
    const Count second = make_count(150, 300, 200);
    const Count interval = since(first, second);
    EXPECT_EQ(interval.raw, 50);
    EXPECT_EQ(interval.value, 100);
    EXPECT_TRUE(interval.scaled);
}

TEST(Count, OfAnIntervalInWhichTheClockStoodStillIsCounted) {
    const Count interval = since(make_count(100, 50, 50), make_count(130, 50, 50));
    EXPECT_TRUE(interval.counted());
    EXPECT_EQ(interval.value, 30);
    EXPECT_FALSE(since(make_count(100, 50, 50), make_count(100, 50, 50)).counted());
}

}  // namespace
}  // namespace anyperf::counting
