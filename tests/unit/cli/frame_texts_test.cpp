// frame_texts_test.cpp: texts of frames are made of an address and of parts that other frames have, too.
#include "cli/script/frame_texts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace anyperf::cli {
namespace {

std::string column(std::uint64_t number) {
    std::string text(kHexadecimalDigits, '?');
    write_column(number, text.data());
    return text;
}

std::string number(std::uint64_t value) {
    std::string text(kHexadecimalDigits, '?');
    text.resize(static_cast<std::size_t>(write_number(value, text.data()) - text.data()));
    return text;
}

TEST(Hexadecimal, IsWhatPrintfWrites) {
    for (unsigned shift = 0; shift < 64; ++shift)
        for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1} << shift, 0xfedc'ba98'7654'3210u >> shift,
                                          ~std::uint64_t{0} >> shift}) {
            EXPECT_EQ(column(value), fmt::format("{:16x}", value));
            EXPECT_EQ(number(value), fmt::format("{:x}", value));
        }
}

FrameForm form_of(FrameTexts& texts, const std::string& head, const std::string& tail) {
    return {.shown = 0x10,
            .within = -std::uint64_t{0x1000},
            .head = texts.keep(head),
            .tail = texts.keep(tail),
            .has_tab = true,
            .has_address = true,
            .has_offset = true};
}

TEST(FrameTexts, PutTheNumbersOfAnAddressBetweenTheTexts) {
    FrameTexts texts;
    ASSERT_TRUE(texts.make_room(100));
    const FrameForm form = form_of(texts, " a_function_whose_name_is_longer_than_one_block+0x", " (dso)\n");
    texts.insert({.address = 0x1234}, texts.add(form));
    std::string text = "before\n";
    texts.append(texts.form(texts.find({.address = 0x1234})), 0x1234, text);
    EXPECT_EQ(text, "before\n\t            1244 a_function_whose_name_is_longer_than_one_block+0x234 (dso)\n");
    EXPECT_EQ(texts.find({.address = 0x1235}), FrameTexts::kNone);
    EXPECT_EQ(texts.find({.address = 0x1234, .caller = true}), FrameTexts::kNone);
}

TEST(FrameTexts, ForgetAllFramesWhenThereAreTooManyButNotTheirForms) {
    FrameTexts texts;
    ASSERT_TRUE(texts.make_room(100));
    const FrameForm form = form_of(texts, "h", "t");
    const std::uint32_t number = texts.add(form);
    std::uint64_t address = 1;
    for (; (address == 1 || texts.find({.address = 1}) == number) && address < 1'000'000; ++address) {
        texts.insert({.address = address}, number);
        ASSERT_TRUE(texts.make_room(2));
    }
    EXPECT_EQ(texts.find({.address = 1}), FrameTexts::kNone);
    EXPECT_EQ(texts.find({.address = address - 1}), FrameTexts::kNone);
    EXPECT_EQ(texts.version(), 0);
    EXPECT_EQ(texts.form(number), form);
}

TEST(FrameTexts, ForgetEverythingWhenThereAreTooManyForms) {
    FrameTexts texts;
    ASSERT_TRUE(texts.make_room(100));
    const FrameForm form = form_of(texts, "h", "t");
    for (unsigned i = 0; texts.version() == 0 && i < 1'000'000; ++i) {
        texts.insert({.address = i}, texts.add(form));
        ASSERT_TRUE(texts.make_room(2));
    }
    EXPECT_EQ(texts.version(), 1);
    EXPECT_EQ(texts.find({.address = 1}), FrameTexts::kNone);
}

TEST(FrameTexts, HaveNoRoomForATextOfManyMegabytes) {
    FrameTexts texts;
    EXPECT_FALSE(texts.make_room(7 << 20));
    EXPECT_EQ(texts.version(), 0);
}

}  // namespace
}  // namespace anyperf::cli
