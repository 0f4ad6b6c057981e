// counter_assignment_test.cpp: events get one counter each of those that they can use.
#include "subsystem/scheduling/counter_assignment.h"

#include <gtest/gtest.h>

#include <array>

namespace anyperf::subsystem {
namespace {

TEST(CounterAssignment, MovesEarlierEventsForLaterOnes) {
    CounterAssignment counters;
    EXPECT_TRUE(counters.add(std::array<std::uint64_t, 1>{0b11}));
    EXPECT_TRUE(counters.add(std::array<std::uint64_t, 1>{0b01}));
    EXPECT_FALSE(counters.add(std::array<std::uint64_t, 1>{0b11}));
}
TEST(CounterAssignment, IsUnchangedByAGroupThatDoesNotFit) {
    CounterAssignment counters;
    EXPECT_TRUE(counters.add(std::array<std::uint64_t, 1>{0b111}));
    EXPECT_FALSE(counters.add(std::array<std::uint64_t, 3>{0b111, 0b111, 0b111}));
    EXPECT_TRUE(counters.add(std::array<std::uint64_t, 2>{0b001, 0b010}));
}
TEST(CounterAssignment, UsesNoCounterForAnEmptyMask) {
    CounterAssignment counters;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(counters.add(std::array<std::uint64_t, 2>{0, 0}));
    EXPECT_TRUE(counters.add(std::array<std::uint64_t, 1>{1ull << 63}));
}

}  // namespace
}  // namespace anyperf::subsystem
