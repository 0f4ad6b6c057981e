// counter_sum_test.cpp: a source is a weighted sum of counters; how many instructions certainly do not reach a target.
#include "subsystem/shared/counter_sum.h"

#include <gtest/gtest.h>

namespace anyperf::subsystem {
namespace {

/// Counter 0 is instructions; kCycles is a model of weighted counters, divided by 64.
constexpr Source kInstructions{.kind = Source::Kind::counters, .terms = 1, .term = {{0, 1}}};
constexpr Source kCycles{.kind = Source::Kind::counters, .terms = 2, .shift = 6, .term = {{0, 16}, {2, 48}}};

TEST(CounterSum, IsWeightedAndDivided) {
    const std::uint64_t counters[] = {1000, 77, 500};
    EXPECT_EQ(counter_sum(kInstructions, counters), 1000u);
    EXPECT_EQ(counter_sum(kCycles, counters), (1000u * 16 + 500 * 48) / 64);
}

TEST(InstructionsUntil, IsExactForInstructions) {
    const std::uint64_t counters[] = {1000, 0, 0};
    EXPECT_EQ(instructions_until(kInstructions, counters, 1001), 1u);
    EXPECT_EQ(instructions_until(kInstructions, counters, 5000), 4000u);
    EXPECT_EQ(instructions_until(kInstructions, counters, 1000), 0u);
    EXPECT_EQ(instructions_until(kInstructions, counters, 999), 0u);
}

TEST(InstructionsUntil, NeverRunsPastTheTarget) {
    std::uint64_t counters[] = {0, 0, 0};
    const std::uint64_t target = 1000;
    std::uint64_t steps = 0;
    for (std::uint64_t run; (run = instructions_until(kCycles, counters, target)) != 0; ++steps) {
        counters[0] += run - 1;  // the worst case for stopping early: all but the last instruction count nothing else
        EXPECT_LT(counter_sum(kCycles, counters), target);
        ++counters[0];
        counters[2] += 1;
        EXPECT_LE(counter_sum(kCycles, counters), target);
    }
    EXPECT_LT(steps, 40u) << "each step comes much nearer to the target";
}

TEST(InstructionsUntil, ExcludesSystemCallsBecauseEachIsChecked) {
    constexpr Source kWithCalls{.kind = Source::Kind::counters,
                                .terms = 3,
                                .shift = 6,
                                .syscall_terms = 1,
                                .term = {{0, 16}, {2, 48}, {3, 6400}}};
    const std::uint64_t counters[] = {64, 0, 0, 2};
    EXPECT_EQ(counter_sum(kWithCalls, counters), 16u + 200);
    EXPECT_EQ(instructions_until(kWithCalls, counters, 1216), 1000u) << "at most a cycle each";
}

TEST(InstructionsUntil, IsNeverForASourceThatDoesNotGrow) {
    const std::uint64_t counters[] = {0, 0, 0};
    EXPECT_EQ(instructions_until(Source{}, counters, 1), kNever);
    EXPECT_EQ(instructions_until(kCycles, counters, ~0ull >> 1), kNever)
        << "the sum would exceed 64 bits before the division";
}

}  // namespace
}  // namespace anyperf::subsystem
