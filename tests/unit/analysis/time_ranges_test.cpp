#include "analysis/time_ranges.h"

#include <gtest/gtest.h>

namespace anyperf::analysis {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TimeRanges parsed(const std::string& text) {
    auto ranges = TimeRanges::parse(text);
    EXPECT_TRUE(ranges) << text;
    return ranges.value_or(TimeRanges{});
}

TEST(TimeRanges, ARangeHasBothOfItsEnds) {
    const TimeRanges ranges = parsed("1.5,2");
    EXPECT_FALSE(ranges.has(kSecond * 3 / 2 - 1));
    EXPECT_TRUE(ranges.has(kSecond * 3 / 2));
    EXPECT_TRUE(ranges.has(2 * kSecond));
    EXPECT_FALSE(ranges.has(2 * kSecond + 1));
}

TEST(TimeRanges, AnEndMayBeMissing) {
    EXPECT_TRUE(parsed("5,").has(~std::uint64_t{0}));
    EXPECT_FALSE(parsed("5").has(kSecond));
    EXPECT_TRUE(parsed(",5").has(0));
    EXPECT_FALSE(parsed(",5").has(6 * kSecond));
}

TEST(TimeRanges, SeveralRangesAreApart) {
    const TimeRanges ranges = parsed("1,2 5,6");
    EXPECT_TRUE(ranges.has(kSecond));
    EXPECT_FALSE(ranges.has(3 * kSecond));
    EXPECT_TRUE(ranges.has(6 * kSecond));
}

TEST(TimeRanges, PercentagesArePartsOfTheRecording) {
    TimeRanges ranges = parsed("10%-20%,50%/2");
    ASSERT_TRUE(ranges.is_relative());
    ASSERT_TRUE(ranges.resolve(1000, 2000));
    EXPECT_FALSE(ranges.has(1099));
    EXPECT_TRUE(ranges.has(1100));
    EXPECT_FALSE(ranges.has(1200));  // the range after it would have it
    EXPECT_TRUE(ranges.has(1500));
    EXPECT_TRUE(ranges.has(2000));
}

TEST(TimeRanges, PercentagesNeedTheTimesOfTheRecording) {
    TimeRanges ranges = parsed("10%");
    EXPECT_FALSE(ranges.resolve(0, 0));
}

class Refused : public testing::TestWithParam<const char*> {};

TEST_P(Refused, AsATime) {
    EXPECT_FALSE(TimeRanges::parse(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Texts, Refused,
                         testing::Values("", " ", "x", "1,x", "2,1", "3,4 1,2", "1.x", "-1", "101%", "20%-10%", "10%/0",
                                         "10%/12", "%", "99999999999999999999"));

TEST(TimeRanges, WithoutRangesAllTimesAreWanted) {
    EXPECT_TRUE(TimeRanges{}.has(5));
}

}  // namespace
}  // namespace anyperf::analysis
