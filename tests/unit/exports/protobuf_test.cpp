#include "exports/protobuf.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "exports/gzip.h"
#include "exports/string_table.h"

namespace {

using namespace anyperf::exports;

std::string bytes(std::initializer_list<int> values) {
    return {values.begin(), values.end()};
}

// The examples of protobuf.dev, "Encoding".
TEST(ProtobufTest, NumbersAreVarintsWithTheirField) {
    Message message;
    message.number(1, 150);
    EXPECT_EQ(message.bytes(), bytes({0x08, 0x96, 0x01}));
}

TEST(ProtobufTest, PackedNumbersAreOneFieldAndKeepZeros) {
    Message message;
    message.packed(6, std::vector{3, 270, 0});
    EXPECT_EQ(message.bytes(), bytes({0x32, 0x04, 0x03, 0x8e, 0x02, 0x00}));
}

TEST(ProtobufTest, ZerosAndEmptyTextsAreLeftOutButElementsAreKept) {
    Message message;
    message.number(1, 0);
    message.text(2, "");
    message.fixed64(3, 0);
    EXPECT_EQ(message.bytes(), "");
    message.element(2, Message{});
    EXPECT_EQ(message.bytes(), bytes({0x12, 0x00}));
}

TEST(ProtobufTest, FixedNumbersHaveTheLowByteFirst) {
    Message message;
    message.fixed64(1, 0x0102);
    EXPECT_EQ(message.bytes(), bytes({0x09, 0x02, 0x01, 0, 0, 0, 0, 0, 0}));
}

TEST(StringTableTest, EqualTextsHaveOneNumberAndTheEmptyOneIsZero) {
    StringTable table;
    EXPECT_EQ(table.at(""), 0);
    EXPECT_EQ(table.at("main"), 1);
    EXPECT_EQ(table.at("main"), 1);
    EXPECT_EQ(table.texts().size(), 2);
}

TEST(GzipTest, ZlibUnpacksWhatWasCompressed) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 1000);
    const std::string packed = gzip(text);
    EXPECT_LT(packed.size(), text.size());
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    std::string unpacked(text.size() + 1, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
    stream.avail_out = static_cast<uInt>(unpacked.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    unpacked.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_EQ(unpacked, text);
}

}  // namespace
