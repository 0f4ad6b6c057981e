// packed_marks_test.cpp: marks come back as they were, and damaged bytes are noticed.
#include "engine/cache/packed_marks.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace anyperf::engine {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes pack(const std::vector<Mark>& marks) {
    Bytes packed(marks.size() * kMostMarkBytes);
    packed.resize(pack_marks(marks, packed.data()));
    return packed;
}

std::vector<Mark> unpack(const Bytes& packed, std::size_t count) {
    std::vector<Mark> marks;
    MarkReader reader{packed.data()};
    for (std::size_t i = 0; i < count; ++i) marks.push_back(reader.next());
    EXPECT_EQ(reader.at(), packed.data() + packed.size());
    return marks;
}

bool equal(const std::vector<Mark>& left, const std::vector<Mark>& right) {
    return left.size() == right.size() && std::memcmp(left.data(), right.data(), left.size() * sizeof(Mark)) == 0;
}

constexpr std::size_t kLargestBlock = 0xffff;  ///< bytes of its code

/// As of blocks: places rise, and most instructions borrow nothing.
std::vector<Mark> random_marks(std::mt19937& random) {
    std::vector<Mark> marks(1 + random() % kMostMarks);
    std::uint16_t host = 0;
    for (Mark& mark : marks) {
        const bool plain = random() % 4 != 0;
        host = static_cast<std::uint16_t>(host + (plain ? 0 : random() % 700));
        mark.host = host;
        mark.guest_length = random() & 15u;
        mark.begins_segment = random() & 1u;
        mark.lent = plain ? Mark::kNotLent : random() & 7u;
        mark.spilled = plain ? Mark::kNone : static_cast<std::uint8_t>(random());
        if (random() % 2 == 0) mark.plain_classes = random() & 0x3fffu;
        if (random() % 8 == 0) mark.cost = random() & 511u;
        if (random() % 8 == 0) mark.busy = random() & 15u;
        host = static_cast<std::uint16_t>(host + mark.guest_length);
    }
    return marks;
}

TEST(PackedMarks, ComeBackAsTheyWere) {
    std::mt19937 random{33};
    for (int i = 0; i < 20000; ++i) {
        const std::vector<Mark> marks = random_marks(random);
        ASSERT_TRUE(equal(unpack(pack(marks), marks.size()), marks)) << i;
    }
}

TEST(PackedMarks, TakeOneByteForACopiedInstruction) {
    std::vector<Mark> marks(3);
    for (std::size_t i = 0; i < 3; ++i) {
        marks[i].host = static_cast<std::uint16_t>(4 * i);
        marks[i].guest_length = 4;
        marks[i].plain_classes = 1;
    }
    EXPECT_EQ(pack(marks).size(), 4U) << "what was counted for all is said once";
}

TEST(PackedMarks, ThatEndTooEarlyAreRefused) {
    std::mt19937 random{34};
    for (int i = 0; i < 2000; ++i) {
        const std::vector<Mark> marks = random_marks(random);
        Bytes packed = pack(marks);
        ASSERT_TRUE(are_valid_marks(packed, marks.size(), kLargestBlock));
        ASSERT_FALSE(are_valid_marks(packed, marks.size() - 1, kLargestBlock)) << i;
        packed.resize(packed.size() - 1);
        ASSERT_FALSE(are_valid_marks(packed, marks.size(), kLargestBlock)) << i;
    }
}

TEST(PackedMarks, OfCodeThatIsNotInTheBlockAreRefused) {
    std::mt19937 random{36};
    for (int i = 0; i < 2000; ++i) {
        const std::vector<Mark> marks = random_marks(random);
        const Bytes packed = pack(marks);
        const std::size_t last = marks.back().host;
        ASSERT_TRUE(are_valid_marks(packed, marks.size(), last)) << i;
        if (last == 0) continue;
        ASSERT_FALSE(are_valid_marks(packed, marks.size(), last - 1)) << i;
    }
}

TEST(PackedMarks, OfRandomBytesAreNotReadBeyondTheEnd) {
    std::mt19937 random{35};
    for (int i = 0; i < 20000; ++i) {
        Bytes bytes(random() % 40);  // of its own size, so that sanitizers notice
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        are_valid_marks(bytes, kMostMarks, kLargestBlock);
    }
}

}  // namespace
}  // namespace anyperf::engine
