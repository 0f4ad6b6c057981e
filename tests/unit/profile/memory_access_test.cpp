#include "profile/memory_access.h"

#include <gtest/gtest.h>

namespace anyperf::profile {
namespace {

TEST(MemoryAccess, TextsAreThoseOfPerf) {
    EXPECT_EQ(data_source_text(0), "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A");
    constexpr std::uint64_t kLoad = 2, kHit = 2, kL1 = 8;
    EXPECT_EQ(data_source_text(kLoad | (kHit | kL1) << 5 | 2ull << 19 | (2ull | 8 | 16) << 26 | 2ull << 24),
              "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A");
    EXPECT_EQ(memory_level_text(13ull << 33 | 1ull << 37), "Remote RAM");
    EXPECT_EQ(memory_block_text(6ull << 40), " Data Addr");
}

TEST(MemoryAccess, PageSizesHaveUnits) {
    EXPECT_EQ(page_size_text(0), "N/A");
    EXPECT_EQ(page_size_text(4096), "4K");
    EXPECT_EQ(page_size_text(2u << 20), "2M");
    EXPECT_EQ(page_size_text(1u << 30), "1G");
}

}  // namespace
}  // namespace anyperf::profile
