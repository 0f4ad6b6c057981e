// delimiter_index_test.cpp: the search of sixteen characters at a time finds each delimiter at each position.
#include "events/catalog/encoding/delimiter_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "events/catalog/text.h"

namespace anyperf::catalog {
namespace {

constexpr std::size_t kLongest = 100;  // the first 64 characters are indexed, the others searched one by one
constexpr std::size_t kLongestName = 50;

TEST(DelimiterIndex, FindsASeparatorAtEachPositionOfEachLength) {
    for (std::size_t size = 0; size <= kLongest; ++size) {
        const std::string none(size, 'A');
        EXPECT_EQ(DelimiterIndex{none}.separator(0), size);
        EXPECT_EQ(DelimiterIndex{none}.forbidden(), size);
        EXPECT_EQ(DelimiterIndex{none}.double_colon(), size);
        for (std::size_t at = 0; at < size; ++at) {
            std::string text = none;
            text[at] = at % 2 == 0 ? ':' : '.';
            const DelimiterIndex marks{text};
            EXPECT_EQ(marks.separator(0), at);
            EXPECT_EQ(marks.separator(at), at);
            EXPECT_EQ(marks.separator(at + 1), size);
            EXPECT_EQ(marks.double_colon(), size) << "a single colon";
        }
    }
}

TEST(DelimiterIndex, FindsTheFirstForbiddenCharacterOfEachKind) {
    for (const char letter : {',', ' ', '\t', '\n'})
        for (std::size_t size = 1; size <= kLongest; ++size)
            for (std::size_t at = 0; at < size; ++at) {
                std::string text(size, ':');
                text.back() = letter;
                text[at] = letter;
                EXPECT_EQ(DelimiterIndex{text}.forbidden(), at);
            }
}

TEST(DelimiterIndex, FindsTheFirstDoubleColon) {
    for (std::size_t size = 2; size <= kLongest; ++size)
        for (std::size_t at = 0; at + 2 <= size; ++at) {
            std::string text(size, 'A');
            text.replace(at, 2, "::");
            EXPECT_EQ(DelimiterIndex{text}.double_colon(), at);
            text.replace(size - 2, 2, "::");
            EXPECT_EQ(DelimiterIndex{text}.double_colon(), at);
            text[at] = '.';
            EXPECT_EQ(DelimiterIndex{text}.double_colon(), std::min(text.find("::"), size));
        }
}

TEST(DelimiterIndex, FindsAnEqualsSignInsideTheWordOnly) {
    for (std::size_t size = 1; size <= kLongest; ++size)
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'A');
            text[at] = '=';
            const DelimiterIndex marks{text};
            EXPECT_EQ(marks.equals(0, size), at);
            EXPECT_EQ(marks.equals(0, at), at) << "it follows the word, so the answer is the end of the word";
            EXPECT_EQ(marks.equals(at + 1, size), size);
        }
}

TEST(NameHash, IgnoresCase) {
    std::string small, capital;
    for (std::size_t size = 0; size <= kLongestName; ++size) {
        EXPECT_EQ(name_hash(small), name_hash(capital));
        small += static_cast<char>('a' + size % 26);
        capital += static_cast<char>('A' + size % 26);
    }
}

/// The PMUs of a family and the instances of an uncore unit have names that differ in one letter: these must mostly
/// have different slots of the hash table.
TEST(NameHash, SpreadsNamesThatDifferInOneLetter) {
    constexpr std::uint32_t kSlots = 1024;
    for (std::size_t size = 1; size <= kLongestName; ++size)
        for (std::size_t at = 0; at < size; ++at) {
            std::string name(size, 'a');
            std::set<std::uint32_t> slots;
            for (const char letter : std::string_view{"0123456789"}) {
                name[at] = letter;
                slots.insert(name_hash(name) % kSlots);
            }
            EXPECT_GE(slots.size(), 8U) << "letter " << at << " of " << size;
        }
}

TEST(SameName, ComparesEachLetterButIgnoresCase) {
    std::string name, other;
    for (std::size_t size = 0; size <= kLongestName; ++size) {
        EXPECT_TRUE(same_name(name, other));
        for (std::size_t at = 0; at < size; ++at) {
            const char kept = name[at];
            name[at] = '#';
            EXPECT_FALSE(same_name(name, other)) << "letter " << at << " of " << size;
            name[at] = kept;
        }
        name += static_cast<char>('a' + size % 26);
        other += static_cast<char>((size % 3 == 0 ? 'A' : 'a') + size % 26);
    }
}

}  // namespace
}  // namespace anyperf::catalog
