// raw_stacks_test.cpp: the trie of stacks, and what happens when it is cleared.
#include "analysis/raw_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace anyperf::analysis {
namespace {

constexpr RawFrame kOuter{0x1000, RawFrame::user}, kInner{0x2000, RawFrame::user}, kOther{0x3000, RawFrame::kernel};

TEST(RawStacks, KeepEachPathOnce) {
    RawStacks stacks;
    const std::uint32_t root = stacks.root(7);
    const std::uint32_t first = stacks.add(root, std::array{kOuter, kInner}, 10);
    EXPECT_NE(stacks.add(root, std::array{kOuter, kOther}, 1), first);
    EXPECT_EQ(stacks.add(root, std::array{kOuter, kInner}, 5), first);
    ASSERT_EQ(stacks.nodes().size(), 4u);  // the root, the outer frame, two inner ones
    EXPECT_EQ(stacks.nodes()[first].weight, 15u);
    EXPECT_EQ(stacks.nodes()[first].count, 2u);
}

TEST(RawStacks, HaveNothingOfTheirOldNodesAfterClear) {
    RawStacks stacks;
    stacks.add(stacks.root(7), std::array{kOuter, kInner}, 10);
    stacks.add_lone(stacks.root(7), kOther, 3);
    stacks.clear();
    EXPECT_THAT(stacks.nodes(), testing::IsEmpty());
    const std::uint32_t root = stacks.root(8);
    const std::uint32_t node = stacks.add(root, std::array{kOuter, kInner}, 1);
    ASSERT_EQ(stacks.nodes().size(), 3u);
    EXPECT_EQ(stacks.nodes()[root].address, 8u);
    EXPECT_EQ(stacks.nodes()[node].weight, 1u);
    stacks.add_lone(root, kOther, 2);
    EXPECT_EQ(stacks.nodes().back().weight, 2u);
}

}  // namespace
}  // namespace anyperf::analysis
