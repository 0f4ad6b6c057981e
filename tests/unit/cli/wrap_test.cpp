// wrap_test.cpp: where text is broken into lines.
#include "cli/output/wrap.h"

#include <gtest/gtest.h>

namespace anyperf::cli {
namespace {

TEST(Wrap, BreaksAtBlanksBeforeTheWidth) {
    EXPECT_EQ(wrap("one two three", 7, 0), "one two\nthree");
    EXPECT_EQ(wrap("one two", 8, 2), "one\n  two");
}

TEST(Wrap, CountsColumnsAndNotBytes) {
    EXPECT_EQ(wrap("äöü äöü", 7, 0), "äöü äöü");
    EXPECT_EQ(wrap("… … … …", 5, 0), "… … …\n…");
}

}  // namespace
}  // namespace anyperf::cli
