// packed_marks_test.cpp: marks come back as they were.
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
    std::vector<Mark> marks(count);
    MarkReader reader{packed.data()};
    for (Mark& mark : marks) mark = reader.next();
    EXPECT_EQ(reader.at(), packed.data() + packed.size());
    return marks;
}

bool equal(const std::vector<Mark>& left, const std::vector<Mark>& right) {
    return left.size() == right.size() && std::memcmp(left.data(), right.data(), left.size() * sizeof(Mark)) == 0;
}

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

}  // namespace
}  // namespace anyperf::engine
