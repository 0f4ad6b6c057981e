#include "symbols/address_space.h"

#include <gtest/gtest.h>

namespace anyperf::symbols {
namespace {

TEST(AddressSpace, FindsTheMapThatContainsAnAddress) {
    AddressSpace space;
    space.add({0x3000, 0x4000, 0, nullptr});
    space.add({0x1000, 0x2000, 0, nullptr});
    EXPECT_EQ(space.find(0xfff), nullptr);
    EXPECT_EQ(space.find(0x1fff)->start, 0x1000u);
    EXPECT_EQ(space.find(0x2000), nullptr);
    EXPECT_EQ(space.find(0x3000)->start, 0x3000u);
    EXPECT_TRUE(space.has_overlap({0x1fff, 0x2800, 0, nullptr}));
    EXPECT_FALSE(space.has_overlap({0x2000, 0x3000, 0, nullptr}));
}

TEST(AddressSpace, AMapThatReplacesTheMiddleOfAnotherLeavesBothEnds) {
    AddressSpace space;
    space.add({0x1000, 0x5000, 0x100, nullptr});
    space.replace({0x2000, 0x3000, 0x9000, nullptr});
    ASSERT_EQ(space.maps().size(), 3u);
    EXPECT_EQ(space.find(0x1fff)->file_offset, 0x100u);
    EXPECT_EQ(space.find(0x2000)->file_offset, 0x9000u);
    EXPECT_EQ(space.find(0x3000)->file_offset, 0x2100u);
    EXPECT_EQ(space.find(0x4fff)->end, 0x5000u);
}

}  // namespace
}  // namespace anyperf::symbols
