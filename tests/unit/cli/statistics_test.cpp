// statistics_test.cpp: mean, standard deviation, and the median with its confidence interval.
#include "cli/stat/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

namespace anyperf::cli::stat {
namespace {

TEST(Summary, OfOneValueIsThatValue) {
    const Summary summary = summarize(std::array{5.0});
    EXPECT_EQ(summary.mean, 5);
    EXPECT_EQ(summary.deviation, 0);
    EXPECT_EQ(summary.median_low, 5);
    EXPECT_EQ(summary.median_high, 5);
    EXPECT_EQ(summary.confidence, 0);
}

TEST(Summary, HasTheSampleStandardDeviation) {
    const Summary summary = summarize(std::array{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0});
    EXPECT_EQ(summary.mean, 5);
    EXPECT_NEAR(summary.deviation, 2.138, 0.001);
    EXPECT_NEAR(summary.relative_deviation(), 0.4276, 0.0001);
    EXPECT_EQ(summary.median, 4.5);
}

TEST(Summary, OfFewRunsReportsTheConfidenceThatTheyAllow) {
    const Summary summary = summarize(std::array{3.0, 1.0, 2.0, 5.0, 4.0});
    EXPECT_EQ(summary.median, 3);
    EXPECT_EQ(summary.median_low, 1);
    EXPECT_EQ(summary.median_high, 5);
    EXPECT_EQ(summary.confidence, 1 - 2.0 / 32);
}

// The interval is that of the sign test: for n = 10 from the 2nd to the 9th value (97.9%), for n = 20 from the 6th to
// the 15th (95.9%).
TEST(Summary, OfManyRunsHasANarrowIntervalOfAtLeast95Percent) {
    std::vector<double> values(10);
    std::iota(values.begin(), values.end(), 1);
    EXPECT_EQ(summarize(values).median_low, 2);
    EXPECT_EQ(summarize(values).median_high, 9);
    EXPECT_NEAR(summarize(values).confidence, 0.9785, 0.0001);
    values.resize(20);
    std::iota(values.begin(), values.end(), 1);
    EXPECT_EQ(summarize(values).median_low, 6);
    EXPECT_EQ(summarize(values).median_high, 15);
}

TEST(Summary, OfVeryManyRunsUsesTheNormalApproximation) {
    std::vector<double> values(10'000);
    std::iota(values.begin(), values.end(), 1);
    EXPECT_EQ(summarize(values).median_low, 4902);
    EXPECT_EQ(summarize(values).median_high, 10'000 - 4902 + 1);
    EXPECT_EQ(summarize(values).confidence, 0.95);
}

}  // namespace
}  // namespace anyperf::cli::stat
