// scan_test.cpp: sixteen characters at a time find what a loop finds, wherever it stands.
#include "events/catalog/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "events/catalog/text.h"

namespace anyperf::catalog {
namespace {

constexpr std::size_t kLongest = 100;  // the first 64 characters are marked, sixteen at a time
constexpr std::size_t kLongestName = 50;

TEST(Marks, FindASeparatorAtEachPlaceOfEachLength) {
    for (std::size_t size = 0; size <= kLongest; ++size) {
        const std::string none(size, 'A');
        EXPECT_EQ(Marks{none}.separator(0), size);
        EXPECT_EQ(Marks{none}.forbidden(), size);
        EXPECT_EQ(Marks{none}.double_colon(), size);
        for (std::size_t at = 0; at < size; ++at) {
            std::string text = none;
            text[at] = at % 2 == 0 ? ':' : '.';
            const Marks marks{text};
            EXPECT_EQ(marks.separator(0), at);
            EXPECT_EQ(marks.separator(at), at);
            EXPECT_EQ(marks.separator(at + 1), size);
            EXPECT_EQ(marks.double_colon(), size) << "one alone";
        }
    }
}

TEST(Marks, FindTheFirstForbiddenCharacterOfEachKind) {
    for (const char letter : {',', ' ', '\t', '\n'})
        for (std::size_t size = 1; size <= kLongest; ++size)
            for (std::size_t at = 0; at < size; ++at) {
                std::string text(size, ':');
                text.back() = letter;
                text[at] = letter;
                EXPECT_EQ(Marks{text}.forbidden(), at);
            }
}

TEST(Marks, FindTheFirstDoubleColon) {
    for (std::size_t size = 2; size <= kLongest; ++size)
        for (std::size_t at = 0; at + 2 <= size; ++at) {
            std::string text(size, 'A');
            text.replace(at, 2, "::");
            EXPECT_EQ(Marks{text}.double_colon(), at);
            text.replace(size - 2, 2, "::");
            EXPECT_EQ(Marks{text}.double_colon(), at);
            text[at] = '.';
            EXPECT_EQ(Marks{text}.double_colon(), std::min(text.find("::"), size));
        }
}

TEST(Marks, FindAnEqualsSignInsideAWordOnly) {
    for (std::size_t size = 1; size <= kLongest; ++size)
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'A');
            text[at] = '=';
            const Marks marks{text};
            EXPECT_EQ(marks.equals(0, size), at);
            EXPECT_EQ(marks.equals(0, at), at) << "it is behind the word: the word's end";
            EXPECT_EQ(marks.equals(at + 1, size), size);
        }
}

TEST(NameHash, DoesNotTellSmallLettersFromCapitals) {
    std::string small, capital;
    for (std::size_t size = 0; size <= kLongestName; ++size) {
        EXPECT_EQ(name_hash(small), name_hash(capital));
        small += static_cast<char>('a' + size % 26);
        capital += static_cast<char>('A' + size % 26);
    }
}

/// PMUs of a family, instances of a box: names that differ in one letter stand in different slots.
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

TEST(SameName, LooksAtEachLetter) {
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
