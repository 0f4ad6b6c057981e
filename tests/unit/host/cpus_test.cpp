// cpus_test.cpp: CPU lists, such as 0-3,7, are parsed and written.
#include "host/hardware/cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anyperf::host {
namespace {

using testing::ElementsAre;

TEST(CpuLists, AreNumbersAndRanges) {
    EXPECT_THAT(parse_cpu_list("0-3,7").value(), ElementsAre(0, 1, 2, 3, 7));
    EXPECT_THAT(parse_cpu_list("7,0-1,1").value(), ElementsAre(0, 1, 7));
    EXPECT_TRUE(parse_cpu_list("").value().empty());
    EXPECT_EQ(parse_cpu_list("0-65535,0-65535").value().size(), 65536);
}

TEST(CpuLists, NameTheWrongPart) {
    for (const char* text : {"a", "1-", "-1", "3-1", "0,", ",", "0,,1", "65536", "1-2-3", " 1"})
        EXPECT_FALSE(parse_cpu_list(text)) << text;
    EXPECT_EQ(parse_cpu_list("0,x").error().cause, "'x' is not a CPU number or range");
    EXPECT_EQ(parse_cpu_list("3-1").error().cause, "'3-1' ends before it begins");
}

TEST(CpuLists, AreWrittenInTheirShortestForm) {
    EXPECT_EQ(to_cpu_list(std::vector{0, 1, 2, 3, 7}), "0-3,7");
    EXPECT_EQ(to_cpu_list(std::vector<int>{}), "");
}

TEST(OnlineCpus, AreReadBelowTheRoot) {
    const Root root{ANYPERF_SOURCE_DIR "/tests/fixtures/machines/arm-big-little"};
    EXPECT_EQ(online_cpus(root)->size(), 6);
    EXPECT_FALSE(online_cpus(Root{"/nonexistent"}));
}

}  // namespace
}  // namespace anyperf::host
