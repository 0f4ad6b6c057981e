// attr_copy_test.cpp: how an open copies attr from its caller: sizes, unknown bytes and unreadable memory, as measured
// on Linux 6.18 (perf_copy_attr in kernel/events/core.c).
#include "subsystem/events/attr_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

/// The memory of a caller, with an attr at its start.
struct Memory {
    std::array<std::byte, 5000> bytes{};

    explicit Memory(std::uint32_t size, std::uint64_t config = 7) {
        Attr attr;
        attr.size = size;
        attr.config = config;
        attr.sig_data = 9;
        attr.config3 = 11;
        std::memcpy(bytes.data(), &attr, 136);
    }
    std::span<const std::byte> readable(std::size_t count) const { return {bytes.data(), count}; }
};

TEST(AttrCopy, OfSizeZeroHasTheFirstPublishedSize) {
    const auto attr = copy_attr(Memory(0).readable(64));
    ASSERT_THAT(attr, Succeeds());
    EXPECT_EQ(attr->size, 64);
    EXPECT_EQ(attr->config, 7);
    EXPECT_EQ(attr->sig_data, 0) << "nothing is read beyond its size";
}

class OutOfRangeAttrSize : public testing::TestWithParam<std::uint32_t> {};
TEST_P(OutOfRangeAttrSize, IsE2bigAndReportsOurSize) {
    const auto attr = copy_attr(Memory(GetParam()).readable(5000));
    ASSERT_THAT(attr, RefusedWith(E2BIG));
    EXPECT_EQ(attr.error().attr_size, 136);
}
INSTANTIATE_TEST_SUITE_P(All, OutOfRangeAttrSize, testing::Values(1, 8, 63, 4097, 0x7fffffff, 0xffffffff));

TEST(AttrCopy, AcceptsAnySizeUpToOurs) {
    for (std::uint32_t size = 64; size <= 136; ++size) {
        const auto attr = copy_attr(Memory(size).readable(size));
        ASSERT_THAT(attr, Succeeds()) << size;
        EXPECT_EQ(attr->size, size);
        EXPECT_EQ(attr->config3, size <= 128 ? 0 : 11) << size;
    }
}

TEST(AttrCopy, RequiresUnknownBytesToBeZero) {
    Memory memory(4096);
    EXPECT_THAT(copy_attr(memory.readable(4096)), Succeeds());
    memory.bytes[4096] = std::byte{1};
    EXPECT_THAT(copy_attr(memory.readable(5000)), Succeeds()) << "bytes beyond size are not read";
    memory.bytes[4095] = std::byte{1};
    EXPECT_THAT(copy_attr(memory.readable(4096)), RefusedWith(E2BIG));
}

TEST(AttrCopy, OfUnreadableMemoryIsEfault) {
    EXPECT_THAT(copy_attr({}), RefusedWith(EFAULT));
    EXPECT_THAT(copy_attr(Memory(136).readable(7)), RefusedWith(EFAULT));
    EXPECT_THAT(copy_attr(Memory(136).readable(135)), RefusedWith(EFAULT));
    EXPECT_THAT(copy_attr(Memory(64).readable(64)), Succeeds());
    EXPECT_THAT(copy_attr(Memory(200).readable(199)), RefusedWith(EFAULT));
}

TEST(AttrCopy, ReportsANonZeroByteBeforeAFault) {
    Memory memory(200);
    memory.bytes[140] = std::byte{1};
    EXPECT_THAT(copy_attr(memory.readable(150)), RefusedWith(E2BIG));
}

}  // namespace
}  // namespace anyperf::subsystem
