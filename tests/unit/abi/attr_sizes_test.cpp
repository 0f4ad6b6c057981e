// attr_sizes_test.cpp: the sizes of perf_event_attr that kernels have published, and which of them holds a field.
#include "abi/attr_sizes.h"

#include <gtest/gtest.h>

#include "anyperf/attr.h"

namespace anyperf::abi {
namespace {

TEST(PublishedSize, IsTheSmallestThatHoldsTheField) {
    EXPECT_EQ(published_size(0), 64);
    EXPECT_EQ(published_size(64), 64);
    EXPECT_EQ(published_size(65), 72);
    EXPECT_EQ(published_size(136), 136);
}

TEST(PublishedSize, IsAtMostTheWholeStructure) {
    EXPECT_EQ(published_size(4096), sizeof(Attr));
}

}  // namespace
}  // namespace anyperf::abi
