// difference_test.cpp: where two logs of schedules part, and what is refused as a log.
#include "cli/schedules/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace anyperf::cli::schedules {
namespace {

using testing::HasSubstr;

Result<std::optional<Difference>> difference(const std::string& first, const std::string& second) {
    std::istringstream one{first}, other{second};
    return find_difference({one, "A"}, {other, "B"});
}

TEST(Schedules, ThatAreEqualHaveNoDifference) {
    for (const char* log : {"1 0 turn 1 at 0x1\n1 5 brk(0x0) = 0x1\n", "1 0 turn 1 at 0x1"}) {
        const auto result = difference(log, log);
        ASSERT_TRUE(result.has_value());
        EXPECT_FALSE(result->has_value());
    }
}

TEST(Schedules, PartAtTheFirstLineThatDiffers) {
    const auto result = difference("1 0 a\n2 0 b\n1 7 c\n9 9 x\n", "1 0 a\n2 0 b\n1 8 c\nno line\n");
    ASSERT_TRUE(result.has_value() && result->has_value());
    const Difference& found = **result;
    EXPECT_EQ(found.line, 3u);
    EXPECT_EQ(found.first, "1 7 c");
    EXPECT_EQ(found.second, "1 8 c");
    EXPECT_EQ(found.thread, "1");
    EXPECT_EQ(found.before, "1 0 a");
    EXPECT_EQ(found.before_line, 1u);
}

TEST(Schedules, PartWhereOneEnds) {
    for (const bool swapped : {false, true}) {
        const auto result = swapped ? difference("1 0 a\n", "1 0 a\n2 4 b\n") : difference("1 0 a\n2 4 b\n", "1 0 a\n");
        ASSERT_TRUE(result.has_value() && result->has_value());
        EXPECT_EQ((*result)->line, 2u);
        EXPECT_EQ((*result)->thread, "2");
        EXPECT_EQ((swapped ? (*result)->first : (*result)->second), "");
    }
}

TEST(Schedules, WhatIsNoLogIsRefusedWithTheLine) {
    const std::string log = "1 0 turn 1 at 0x1\n";
    for (const std::string& line :
         {std::string{"hello"}, std::string{}, std::string{"1 x y"}, std::string{"1 2"}, std::string{"1 2 "},
          std::string{"-1 2 a"}, std::string{"1 2 \x1b[31m"}, std::string{"1 2 a\0b", 7},
          "1 2 " + std::string(5000, 'a'), std::string{"99999999999999999999 1 a"}}) {
        for (const bool swapped : {false, true}) {
            const auto result = swapped ? difference(log + line + "\n", log + "1 2 a\n")
                                        : difference(log + "1 2 a\n", log + line + "\n");
            ASSERT_FALSE(result.has_value()) << line;
            EXPECT_EQ(result.error().what, swapped ? "cannot compare A" : "cannot compare B");
            EXPECT_THAT(result.error().cause, HasSubstr("line 2 is not a line of a schedule's log"));
            EXPECT_THAT(result.error().fix, HasSubstr("--log-schedule"));
        }
    }
}

TEST(Schedules, AnEmptyFileIsNoLog) {
    const auto result = difference("1 0 a\n", "");
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().cause, "it is empty");
}

}  // namespace
}  // namespace anyperf::cli::schedules
