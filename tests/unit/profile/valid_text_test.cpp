#include "profile/valid_text.h"

#include <gtest/gtest.h>

#include <string>

namespace anyperf::profile {
namespace {

#define R "\xef\xbf\xbd"

TEST(ValidText, TextStaysAsItIs) {
    for (const char* text : {"", "main", "a\tb\nc\r", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"})
        EXPECT_EQ(valid_text(text), text);
}

// The examples of The Unicode Standard, tables 3-8 to 3-11.
TEST(ValidText, EachLongestBeginningOfACharacterIsReplacedByOne) {
    EXPECT_EQ(valid_text("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"), R R R R R R R R "A");
    EXPECT_EQ(valid_text("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"), R R R R R R R R "A");
    EXPECT_EQ(valid_text("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"), R R R R R "A" R R "B");
    EXPECT_EQ(valid_text("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), R R R R "A");
}

TEST(ValidText, ACharacterThatEndsWithTheTextIsReplacedByOne) {
    EXPECT_EQ(valid_text("a\xe2\x82"), "a" R);
}

TEST(ValidText, ControlCharactersAreReplaced) {
    EXPECT_EQ(valid_text("\x1b[31m\x7f\x01"), R "[31m" R R);
}

TEST(ValidText, AllTextsOfAProfileBecomeValidAndKeepTheirIds) {
    Profile profile;
    const StringId bad = profile.strings.intern("f\xff"), good = profile.strings.intern("g");
    profile.events.add({.name = "e\xff", .unit = {}});
    profile.recording.command_line = "\xff";
    make_texts_valid(profile);
    EXPECT_EQ(profile.strings[bad], "f" R);
    EXPECT_EQ(profile.strings[good], "g");
    EXPECT_EQ(profile.events[EventId{0}].name, "e" R);
    EXPECT_EQ(profile.recording.command_line, R);
}

}  // namespace
}  // namespace anyperf::profile
