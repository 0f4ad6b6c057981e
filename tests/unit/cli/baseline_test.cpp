// baseline_test.cpp: the gate.
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
    return compare(std::vector<Earlier>{{"a", "", "", before}, {"wall_ns", "", "", 1}}, report, gates);
}

TEST(Gate, FailsAboveItsLimitAndNotAtIt) {
    EXPECT_TRUE(compared(100, 105, {{"", 5}}).passed);
    EXPECT_FALSE(compared(100, 106, {{"", 5}}).passed);
    EXPECT_TRUE(compared(100, 50, {{"", 0}}).passed);
}

TEST(Gate, OfOneEventBeatsTheGeneralOneInAnyOrder) {
    EXPECT_TRUE(compared(100, 150, {{"", 5}, {"a", 60}}).passed);
    EXPECT_FALSE(compared(100, 150, {{"a", 40}, {"", 500}}).passed);
}

TEST(Gate, GrowthFromZeroIsAboveEveryLimit) {
    EXPECT_FALSE(compared(0, 1, {{"", 1e9}}).passed);
    EXPECT_TRUE(compared(0, 0, {{"", 0}}).passed);
}

TEST(Gate, ThatNamesWhatWasNotCountedDoesNotPass) {
    const auto comparison = compared(100, 100, {{"b", 5}});
    EXPECT_FALSE(comparison.passed);
    EXPECT_THAT(to_table(comparison), HasSubstr("b: not counted in both runs"));
}

TEST(Gate, TimeOnlyFailsWhereItIsNamed) {
    Report report;
    report.wall_ns = 1000;
    report.lines = {line_of("a", 1, 2, 1)};
    const std::vector<Earlier> earlier{{"a", "", "", 1}, {"wall_ns", "", "", 1}};
    EXPECT_TRUE(compare(earlier, report, std::vector<Gate>{{"", 5}}).passed);
    EXPECT_FALSE(compare(earlier, report, std::vector<Gate>{{"wall_ns", 5}}).passed);
}

TEST(Comparison, ShowsWhatOnlyOneSideHas) {
    Report report;
    report.lines = {line_of("new", 1, 2, 7)};
    const auto table = to_table(compare(std::vector<Earlier>{{"old", "", "", 3}}, report, {}));
    EXPECT_THAT(table, HasSubstr("old"));
    EXPECT_THAT(table, HasSubstr("new"));
}

}  // namespace
}  // namespace anyperf::cli::stat
