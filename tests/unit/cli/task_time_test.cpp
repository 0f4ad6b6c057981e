// task_time_test.cpp: counts of a task on each CPU are scaled by multiplexing alone, not by the task's absence.
#include "cli/stat/places/task_time.h"

#include <gtest/gtest.h>

#include <vector>

namespace anyperf::cli::stat {
namespace {

using counting::Count;
using counting::make_count;
using counting::Place;

std::vector<Count> divided(const std::vector<Place>& places, std::vector<Count> counts) {
    divide_enabled_time(places, counts);
    return counts;
}

TEST(TaskTime, OfATaskThatRanOnTwoCpusIsNotScaled) {
    const auto counts = divided({{7, 0}, {7, 1}}, {make_count(30, 100, 30), make_count(70, 100, 70)});
    EXPECT_EQ(counts[0], make_count(30, 30, 30));
    EXPECT_EQ(counts[1], make_count(70, 70, 70));
}

TEST(TaskTime, OfACpuWhereTheTaskNeverRanIsNotCounted) {
    const auto counts = divided({{7, 0}, {7, 1}}, {make_count(100, 100, 100), make_count(0, 60, 0)});
    EXPECT_EQ(counts[0], make_count(100, 100, 100));
    EXPECT_FALSE(counts[1].counted());
    EXPECT_FALSE((counts[0] + counts[1]).scaled);
}

TEST(TaskTime, OfAMultiplexedEventIsScaledAlikeOnAllCpus) {
    const auto counts = divided({{7, 0}, {7, 1}}, {make_count(10, 120, 20), make_count(30, 120, 40)});
    EXPECT_EQ(counts[0], make_count(10, 40, 20));
    EXPECT_EQ(counts[1], make_count(30, 80, 40));
    EXPECT_EQ((counts[0] + counts[1]).value, 80);
}

TEST(TaskTime, IsThatOfEachTask) {
    const auto counts = divided({{7, 0}, {7, 1}, {8, 0}, {8, 1}}, {make_count(1, 10, 5), make_count(1, 10, 5),
                                                                   make_count(1, 40, 10), make_count(1, 40, 10)});
    EXPECT_EQ(counts[0].value, 1);
    EXPECT_EQ(counts[2].value, 2);
}

TEST(TaskTime, HasSomeSkewFromReadingOnePlaceAfterTheOther) {
    const auto counts = divided({{7, 0}, {7, 1}}, {make_count(3, 100'000, 99'950), make_count(0, 100'050, 0)});
    EXPECT_EQ(counts[0], make_count(3, 99'950, 99'950));
}

TEST(TaskTime, OfAnEventThatNeverHadACounterStaysNotCounted) {
    const auto counts = divided({{7, 0}, {7, 1}}, {make_count(0, 100, 0), make_count(0, 100, 0)});
    EXPECT_EQ(counts[0], make_count(0, 100, 0));
}

TEST(TaskTime, DoesNotConcernCpusAndTasksOnAnyCpu) {
    const std::vector<Count> counts{make_count(1, 100, 50), make_count(1, 100, 50), make_count(1, 100, 50)};
    EXPECT_EQ(divided({{-1, 0}, {7, -1}, {3, 0, true}}, counts), counts);
}

}  // namespace
}  // namespace anyperf::cli::stat
