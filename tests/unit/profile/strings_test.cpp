#include "profile/strings.h"

#include <gtest/gtest.h>

#include <string>

namespace anyperf::profile {
namespace {

TEST(Strings, TheEmptyTextIsIdZero) {
    Strings strings;
    EXPECT_EQ(strings.intern(""), StringId{});
    EXPECT_EQ(strings[StringId{}], "");
}

TEST(Strings, EqualTextsHaveOneIdAlsoAfterTheTableHasGrown) {
    Strings strings;
    for (int i = 0; i < 10'000; ++i) strings.intern("f" + std::to_string(i));
    const std::size_t size = strings.size();
    for (int i = 0; i < 10'000; ++i) {
        const std::string text = "f" + std::to_string(i);
        EXPECT_EQ(strings[strings.intern(text)], text);
    }
    EXPECT_EQ(strings.size(), size);
}

TEST(Strings, ATextLongerThanAChunkIsStored) {
    Strings strings;
    const std::string longest(1 << 20, 'x');
    EXPECT_EQ(strings[strings.intern(longest)], longest);
}

}  // namespace
}  // namespace anyperf::profile
