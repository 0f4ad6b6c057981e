#include "unwind/expression.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace {

using namespace anyperf;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> made;
    for (const int value : values) made.push_back(static_cast<std::byte>(value));
    return made;
}

const unwind::Registers kRegisters{.rip = 0x100b, .rsp = 0x7000, .rbp = 0x7020};

// What the linker writes for .plt: rsp + 8, and 8 more from the 11th byte of a stub on.
TEST(ExpressionTest, PltStubsHavePushedMoreFromTheirEleventhByteOn) {
    const auto plt = bytes({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
    EXPECT_EQ(unwind::evaluate(plt, kRegisters, {}), 0x7010);
    EXPECT_EQ(unwind::evaluate(plt, {.rip = 0x100a, .rsp = 0x7000}, {}), 0x7008);
}

TEST(ExpressionTest, MemoryIsReadFromTheCopiedStackOnly) {
    const std::array<std::uint64_t, 2> stack{5, 0x1234};
    const unwind::StackCopy copy{0x7018, std::as_bytes(std::span{stack})};
    EXPECT_EQ(unwind::evaluate(bytes({0x76, 0, 0x06}), kRegisters, copy), 0x1234);
    EXPECT_EQ(unwind::evaluate(bytes({0x76, 8, 0x06}), kRegisters, copy), std::nullopt);
    EXPECT_EQ(unwind::evaluate(bytes({0x76, 1, 0x06}), kRegisters, copy), std::nullopt);
}

TEST(ExpressionTest, DamageAndUnknownOperationsGiveNothing) {
    EXPECT_EQ(unwind::evaluate(bytes({}), kRegisters, {}), std::nullopt);
    EXPECT_EQ(unwind::evaluate(bytes({0x22}), kRegisters, {}), std::nullopt);
    EXPECT_EQ(unwind::evaluate(bytes({0x31, 0xff}), kRegisters, {}), std::nullopt);
    EXPECT_EQ(unwind::evaluate(bytes({0x73, 0}), kRegisters, {}), std::nullopt);
    EXPECT_EQ(unwind::evaluate(bytes({0x0c, 1, 2}), kRegisters, {}), std::nullopt);
    EXPECT_EQ(unwind::evaluate(std::vector<std::byte>(100, std::byte{0x31}), kRegisters, {}), std::nullopt);
}

}  // namespace
