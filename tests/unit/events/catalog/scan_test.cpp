// scan_test.cpp: sixteen characters at a time find what a loop finds, wherever it stands.
#include "events/catalog/scan.h"

#include <gtest/gtest.h>

#include <string>

#include "events/catalog/text.h"

namespace anyperf::catalog {
namespace {

constexpr std::size_t kLongest = 50;

TEST(Scan, FindsASeparatorAtEachPlaceOfEachLength) {
    for (std::size_t size = 0; size <= kLongest; ++size) {
        const std::string none(size, 'A');
        EXPECT_EQ(next_separator(none, 0), size);
        EXPECT_EQ(next_forbidden(none), size);
        for (std::size_t at = 0; at < size; ++at) {
            std::string text = none;
            text[at] = at % 2 == 0 ? ':' : '.';
            EXPECT_EQ(next_separator(text, 0), at);
            EXPECT_EQ(next_separator(text, at), at);
            EXPECT_EQ(next_separator(text, at + 1), size);
        }
    }
}

TEST(Scan, FindsTheFirstForbiddenCharacterOfEachKind) {
    for (const char letter : {',', ' ', '\t', '\n'})
        for (std::size_t size = 1; size <= kLongest; ++size)
            for (std::size_t at = 0; at < size; ++at) {
                std::string text(size, ':');
                text.back() = letter;
                text[at] = letter;
                EXPECT_EQ(next_forbidden(text), at);
            }
}

TEST(NameHash, DoesNotTellSmallLettersFromCapitals) {
    std::string small, capital;
    for (std::size_t size = 0; size <= kLongest; ++size) {
        EXPECT_EQ(name_hash(small), name_hash(capital));
        small += static_cast<char>('a' + size % 26);
        capital += static_cast<char>('A' + size % 26);
    }
}

}  // namespace
}  // namespace anyperf::catalog
