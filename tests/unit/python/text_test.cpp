#include "python/text.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/python/made_memory.h"

namespace anyperf::python {
namespace {

class Texts : public testing::Test {
  protected:
    std::string text(std::uint64_t object) {
        Text<16> out;
        read_text(made_.memory(), layout_, object, out);
        return std::string{out.view()};
    }

    MadeMemory made_{4096};
    Layout layout_ = *layout_of(made_.memory(), 12, 0);
};

TEST_F(Texts, AsciiIsCopied) {
    EXPECT_EQ(text(made_.text_object(layout_, "Class.method")), "Class.method");
    EXPECT_EQ(text(made_.text_object(layout_, "longer than the buffer")), "longer than the ");
}

TEST_F(Texts, WiderCharactersBecomeUtf8) {
    EXPECT_EQ(text(made_.text_object(layout_, "caf\xe9", 4)), "café");
    EXPECT_EQ(text(made_.text_object(layout_,
                                     std::string{"\xac\x20"
                                                 "1\0",
                                                 4},
                                     2, 2)),
              "€1");
    EXPECT_EQ(text(made_.text_object(layout_, std::string{"\x00\xf6\x01\x00", 4}, 1, 4)), "😀");
}

TEST_F(Texts, ACharacterThatDoesNotFitIsNotCut) {
    EXPECT_EQ(text(made_.text_object(layout_, "0123456789abcde\xe9", 16)), "0123456789abcde");
}

TEST_F(Texts, WhatCannotBeEncodedBecomesAQuestionMark) {
    EXPECT_EQ(text(made_.text_object(layout_, std::string{"\x00\xd8", 2}, 1, 2)), "?");
    EXPECT_EQ(text(made_.text_object(layout_, std::string{"\x00\x00\x11\x00", 4}, 1, 4)), "?");
}

TEST_F(Texts, GarbageIsEmpty) {
    EXPECT_EQ(text(0), "");
    EXPECT_EQ(text(MadeMemory::kStart + 4090), "");
    const std::uint64_t endless = made_.text_object(layout_, "x");
    made_.put(endless + kObjectSize, ~std::uint64_t{0});
    EXPECT_EQ(text(endless), "");
    EXPECT_EQ(text(made_.text_object(layout_, "abc", 1, 3)), "");
}

}  // namespace
}  // namespace anyperf::python
