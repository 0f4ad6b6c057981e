// metrics_test.cpp: the numbers beside the counts.
#include "cli/stat/metrics.h"

#include <gtest/gtest.h>

#include "unit/cli/stat_report.h"

namespace anyperf::cli::stat {
namespace {

const std::vector kLines{
    task_clock(2'000'000),
    line_of("cycles", 0, 0, 6'000'000),
    line_of("instructions", 0, 1, 9'000'000),
    line_of("branches", 0, 4, 1'000'000),
    line_of("branch-misses", 0, 5, 25'000),
    line_of("page-faults", 1, 2, 100),
};

Metric metric(std::size_t line) {
    return metric_of(kLines[line], kLines, 4'000'000).value();
}

TEST(Metric, OfTheClockIsHowManyCpusWereUsed) {
    EXPECT_EQ(metric(0).value, 0.5);
    EXPECT_EQ(metric(0).unit, "CPUs utilized");
}

TEST(Metric, OfCyclesIsTheFrequency) {
    EXPECT_EQ(metric(1).value, 3);
    EXPECT_EQ(metric(1).unit, "GHz");
}

TEST(Metric, OfInstructionsIsIpc) {
    EXPECT_EQ(metric(2).value, 1.5);
    EXPECT_EQ(metric(2).unit, "insn per cycle");
}

TEST(Metric, OfBranchMissesIsTheirShare) {
    EXPECT_EQ(metric(4).value, 2.5);
    EXPECT_TRUE(metric(4).percent);
}

TEST(Metric, OfOtherEventsIsTheirRate) {
    EXPECT_EQ(metric(5).value, 50);
    EXPECT_EQ(metric(5).unit, "K/sec");
}

TEST(Metric, IsAbsentWhereWhatItNeedsWasNotCounted) {
    const std::vector alone{line_of("page-faults", 1, 2, 100)};
    EXPECT_FALSE(metric_of(alone[0], alone, 1));
    std::vector refused = kLines;
    refused[5].refusal = Error{};
    EXPECT_FALSE(metric_of(refused[5], refused, 1));
}

TEST(Metric, UsesTheLinesOfItsOwnCpu) {
    std::vector lines{task_clock(1'000'000), task_clock(2'000'000), line_of("page-faults", 1, 2, 100)};
    lines[0].where = "CPU0";
    lines[1].where = lines[2].where = "CPU1";
    EXPECT_EQ(metric_of(lines[2], lines, 1)->value, 50);
}

}  // namespace
}  // namespace anyperf::cli::stat
