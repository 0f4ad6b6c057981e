// baseline_test.cpp: which changes of a count fail the gate of `stat --baseline`, and what the comparison prints.
#include "cli/stat/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/stat_report.h"

namespace anyperf::cli::stat {
namespace {

using testing::HasSubstr;

Comparison compared(double before, std::uint64_t now, std::vector<Gate> gates) {
    Report report;
    report.lines = {line_of("a", 1, 2, now)};
    return compare(std::vector<BaselineValue>{{"a", "", "", before}, {"wall_ns", "", "", 1}}, report, gates);
}

TEST(Gate, PassesAtItsLimitAndFailsAboveIt) {
    EXPECT_TRUE(compared(100, 105, {{"", 5}}).passed);
    EXPECT_FALSE(compared(100, 106, {{"", 5}}).passed);
    EXPECT_TRUE(compared(100, 50, {{"", 0}}).passed);
}

TEST(Gate, ForOneEventOverridesTheGeneralOneInAnyOrder) {
    EXPECT_TRUE(compared(100, 150, {{"", 5}, {"a", 60}}).passed);
    EXPECT_FALSE(compared(100, 150, {{"a", 40}, {"", 500}}).passed);
}

TEST(Gate, OfTheSameKindIsOverriddenByTheLastOne) {
    EXPECT_TRUE(compared(100, 150, {{"", 5}, {"", 60}}).passed);
    EXPECT_FALSE(compared(100, 150, {{"", 60}, {"", 5}}).passed);
    EXPECT_TRUE(compared(100, 150, {{"a", 5}, {"a", 60}}).passed);
}

TEST(Gate, FailsOnAnyGrowthFromZero) {
    EXPECT_FALSE(compared(0, 1, {{"", 1e9}}).passed);
    EXPECT_TRUE(compared(0, 0, {{"", 0}}).passed);
}

TEST(Gate, FailsForAnEventThatWasNotCounted) {
    const auto comparison = compared(100, 100, {{"b", 5}});
    EXPECT_FALSE(comparison.passed);
    EXPECT_THAT(to_table(comparison), HasSubstr("b: not counted in both runs"));
}

TEST(Gate, ChecksTimeOnlyIfItIsNamed) {
    Report report;
    report.wall_ns = 1000;
    report.lines = {line_of("a", 1, 2, 1)};
    const std::vector<BaselineValue> earlier{{"a", "", "", 1}, {"wall_ns", "", "", 1}};
    EXPECT_TRUE(compare(earlier, report, std::vector<Gate>{{"", 5}}).passed);
    EXPECT_FALSE(compare(earlier, report, std::vector<Gate>{{"wall_ns", 5}}).passed);
}

TEST(Comparison, PairsANameThatOccursTwiceInOrder) {
    Report report;
    report.lines = {line_of("a", 1, 2, 10), line_of("a", 1, 2, 20)};
    const auto comparison = compare(std::vector<BaselineValue>{{"a", "", "", 10}, {"a", "", "", 20}}, report, {});
    ASSERT_GE(comparison.differences.size(), 2);
    EXPECT_EQ(comparison.differences[0].growth(), 0);
    EXPECT_EQ(comparison.differences[1].growth(), 0);
}

TEST(Comparison, ShowsEventsThatOnlyOneRunHas) {
    Report report;
    report.lines = {line_of("new", 1, 2, 7)};
    const auto table = to_table(compare(std::vector<BaselineValue>{{"old", "", "", 3}}, report, {}));
    EXPECT_THAT(table, HasSubstr("old"));
    EXPECT_THAT(table, HasSubstr("new"));
}

}  // namespace
}  // namespace anyperf::cli::stat
