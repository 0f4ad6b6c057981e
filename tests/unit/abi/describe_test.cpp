// describe_test.cpp: the fields of a perf_event_attr with the names of their values.
#include "abi/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"

namespace anyperf::abi {
namespace {

std::string line(const Attr& attr, std::string_view name) {
    for (const DescribedField& field : describe(attr, false))
        if (field.name == name) return std::to_string(field.value) + ' ' + field.meaning;
    return "absent";
}

TEST(Describe, NamesTheFieldsThatAreSet) {
    Attr attr;
    attr.sample_type = 0x10001;
    attr.read_format = 0x1b;
    attr.flags = flag("disabled") | 2ull << 15;
    EXPECT_EQ(line(attr, "type"), "0 PERF_TYPE_HARDWARE");
    EXPECT_EQ(line(attr, "config"), "0 PERF_COUNT_HW_CPU_CYCLES");
    EXPECT_EQ(line(attr, "sample_type"), "65537 IDENTIFIER|IP");
    EXPECT_EQ(line(attr, "read_format"), "27 TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|GROUP|LOST");
    EXPECT_EQ(line(attr, "disabled"), "1 off until enabled");
    EXPECT_THAT(line(attr, "precise_ip"), testing::StartsWith("2 "));
    EXPECT_EQ(line(attr, "inherit"), "absent");
}

TEST(Describe, NamesCacheEventsOfAHybridMachine) {
    Attr attr;
    attr.type = kTypeHwCache;
    attr.config = 0xa00010002;
    EXPECT_EQ(line(attr, "config"), "42949738498 LL READ MISS of the PMU of type 10");
}

TEST(Describe, NamesTheUnionMemberThatTheTypeUses) {
    Attr attr;
    attr.type = kTypeBreakpoint;
    attr.bp_type = 3;
    attr.config1 = 0x1000;
    attr.config2 = 8;
    attr.sample_period = 99;
    attr.flags = flag("freq");
    EXPECT_EQ(line(attr, "bp_type"), "3 HW_BREAKPOINT_RW");
    EXPECT_EQ(line(attr, "bp_addr"), "4096 ");
    EXPECT_EQ(line(attr, "bp_len"), "8 ");
    EXPECT_EQ(line(attr, "sample_freq"), "99 ");
}

TEST(Describe, ShowsEveryFieldOnRequest) {
    EXPECT_EQ(describe(Attr{}, true).size(), kAttrFields.size() - 1 + kAttrFlags.size());
}

TEST(Describe, ShowsUnknownFlagBits) {
    Attr attr;
    attr.flags = 1ull << 50;
    EXPECT_EQ(line(attr, "__reserved_1"), std::to_string(1ull << 50) + ' ');
}

}  // namespace
}  // namespace anyperf::abi
