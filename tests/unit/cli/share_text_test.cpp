#include "cli/output/share_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

namespace anyperf::cli {
namespace {

std::string share_text(double percent, std::size_t width) {
    std::string text;
    append_share(percent, width, text);
    return text;
}

std::string printed(double percent, int width) {
    char text[64];
    std::snprintf(text, sizeof text, "%*.2f", width, percent);
    return text;
}

TEST(ShareText, IsAlignedToTheRight) {
    EXPECT_EQ(share_text(0, 7), "   0.00");
    EXPECT_EQ(share_text(100, 7), " 100.00");
    EXPECT_EQ(share_text(12.5, 0), "12.50");
}

TEST(ShareText, IsThatOfPrintfHalfWayBetweenTwoHundredths) {
    for (unsigned eighths = 0; eighths <= 800; ++eighths)
        EXPECT_EQ(share_text(eighths / 8.0, 7), printed(eighths / 8.0, 7));
}

TEST(ShareText, IsThatOfPrintfNextToHalfOfAHundredth) {
    for (unsigned n = 0; n < 10'000; ++n) {
        const double half = (n + 0.5) / 100;
        for (const double each : {std::nextafter(half, 0), half, std::nextafter(half, 100)})
            EXPECT_EQ(share_text(each, 7), printed(each, 7)) << n;
    }
}

TEST(ShareText, IsThatOfPrintfForShares) {
    std::mt19937_64 random{1};
    for (unsigned i = 0; i < 100'000; ++i) {
        const std::uint64_t whole = random() % 1'000'000 + 1, part = random() % (whole + 1);
        const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
        EXPECT_EQ(share_text(share, 7), printed(share, 7)) << part << " of " << whole;
    }
}

}  // namespace
}  // namespace anyperf::cli
