// metrics_test.cpp: the numbers that `stat` derives from counts, such as IPC, GHz and rates.
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

TEST(Metric, OfTaskClockIsTheNumberOfCpusUsed) {
    EXPECT_EQ(metric(0).value, 0.5);
    EXPECT_EQ(metric(0).unit, "CPUs utilized");
}

TEST(Metric, OfCyclesIsTheClockFrequency) {
    EXPECT_EQ(metric(1).value, 3);
    EXPECT_EQ(metric(1).unit, "GHz");
}

TEST(Metric, OfInstructionsIsIpc) {
    EXPECT_EQ(metric(2).value, 1.5);
    EXPECT_EQ(metric(2).unit, "insn per cycle");
}

TEST(Metric, OfModelledCyclesIsMarkedAsModelled) {
    EXPECT_FALSE(metric(2).modelled);
    std::vector lines = kLines;
    lines[1].modelled = true;
    EXPECT_TRUE(metric_of(lines[2], lines, 1)->modelled);
    EXPECT_FALSE(metric_of(lines[1], lines, 1)) << "modelled cycles have no frequency";
    EXPECT_FALSE(metric_of(lines[4], lines, 1)->modelled) << "branches are counted";
}

TEST(Metric, OfAClockWithAnyperfsShareIsMarked) {
    std::vector lines = kLines;
    lines[0].with_own_share = true;
    EXPECT_EQ(mark_of(lines[0]), kOwnShareMark);
    EXPECT_EQ(mark_of(*metric_of(lines[0], lines, 4'000'000)), kOwnShareMark);
    EXPECT_FALSE(metric_of(lines[5], lines, 1)) << "a rate by anyperf's own time";
    EXPECT_EQ(metric_of(lines[2], lines, 1)->unit, "insn per cycle");
}

TEST(Metric, OfAModelledClockIsAbsent) {
    std::vector lines = kLines;
    lines[0].modelled = true;
    EXPECT_EQ(mark_of(lines[0]), kModelledMark);
    EXPECT_FALSE(metric_of(lines[0], lines, 4'000'000));
    EXPECT_FALSE(metric_of(lines[5], lines, 1));
}

TEST(Mark, IsEmptyWithoutACount) {
    Line line = task_clock(1);
    line.with_own_share = true;
    line.count = {};
    EXPECT_EQ(mark_of(line), "");
}

TEST(Metric, OfBranchMissesIsTheirShareOfBranches) {
    EXPECT_EQ(metric(4).value, 2.5);
    EXPECT_TRUE(metric(4).percent);
}

TEST(Metric, OfOtherEventsIsTheirRatePerSecond) {
    EXPECT_EQ(metric(5).value, 50);
    EXPECT_EQ(metric(5).unit, "K/sec");
}

TEST(Metric, OfTopdownEventsIsTheirShareOfAllSlots) {
    std::vector<Line> lines;
    for (const auto& [name, value] : {std::pair{"slots", 1000},
                                      {"topdown-retiring", 300},
                                      {"topdown-bad-spec", 50},
                                      {"topdown-fe-bound", 50},
                                      {"topdown-be-bound", 600}}) {
        lines.push_back(line_of(name, 4, 0, static_cast<std::uint64_t>(value)));
        lines.back().event.pmu = "cpu";
        lines.back().event.source_text = std::string{"cpu/"} + name + "/";
    }
    EXPECT_EQ(metric_of(lines[1], lines, 1)->value, 30);
    EXPECT_EQ(metric_of(lines[4], lines, 1)->unit, "backend bound");
    EXPECT_TRUE(is_ratio(*metric_of(lines[1], lines, 1)));
    lines[2].count = {};
    EXPECT_FALSE(metric_of(lines[1], lines, 1));
}

TEST(Metric, IsAbsentIfAnEventItNeedsWasNotCounted) {
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
