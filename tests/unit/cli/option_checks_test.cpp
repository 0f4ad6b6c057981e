// option_checks_test.cpp: which texts are whole numbers for an option.
#include "cli/option_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace anyperf::cli {
namespace {

constexpr std::uint64_t kLargest = ~std::uint64_t{0};

/// The number that an option gets, or the refusal.
template <class Number>
std::string checked(Number least, Number most, std::string text) {
    const std::string refusal = whole_number_from(least, most)(text);
    return refusal.empty() ? text : refusal;
}

TEST(WholeNumbers, AreDecimalOrHexadecimal) {
    const auto seed = [](const char* text) { return checked(std::uint64_t{0}, kLargest, text); };
    EXPECT_EQ(seed("0"), "0");
    EXPECT_EQ(seed("18446744073709551615"), "18446744073709551615");
    EXPECT_EQ(seed("010"), "10");
    EXPECT_EQ(seed("0x10"), "16");
    EXPECT_EQ(seed("0Xffffffffffffffff"), "18446744073709551615");
    EXPECT_EQ(checked(-1, 5, "-1"), "-1");
}

TEST(WholeNumbers, WhatIsNoneOrOutOfRangeIsRefused) {
    for (const char* text : {"", " ", "x", "-1", "-0", "+1", "1.5", "1e3", "1 ", " 1", "5k", "0x", "0x-1", "0x1g", "--",
                             "18446744073709551616", "99999999999999999999999999", "0x10000000000000000"})
        EXPECT_EQ(checked(std::uint64_t{0}, kLargest, text),
                  "'" + std::string{text} + "' is not a whole number from 0 to 18446744073709551615");
    for (const char* text : {"0", "65", "4294967297", "0x100000001"})
        EXPECT_EQ(checked(1u, 64u, text), "'" + std::string{text} + "' is not a whole number from 1 to 64");
    for (const char* text : {"-2", "6", "9223372036854775808"})
        EXPECT_EQ(checked(std::int64_t{-1}, std::int64_t{5}, text),
                  "'" + std::string{text} + "' is not a whole number from -1 to 5");
}

}  // namespace
}  // namespace anyperf::cli
