// parsed_record.h: parses a record byte by byte, in the order in which perf_event_open(2) lists its fields,
// independently of the code that wrote it. The record first goes through a ring, which adds a trailer of sample_id_all
// (TID, IDENTIFIER).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "subsystem/records/record.h"
#include "unit/subsystem/shared/test_ring.h"

namespace anyperf::subsystem::testing {

class Parsed {
  public:
    explicit Parsed(const subsystem::Record& record) {
        TestRing ring{{.pages = 16}};
        ring.event.shape.flags = abi::flag("sample_id_all");
        ring.event.shape.sample_type = abi::sample("PERF_SAMPLE_IDENTIFIER") | abi::sample("PERF_SAMPLE_TID");
        EXPECT_TRUE(write_record(ring.ring(), ring.event, ring.moment, record).written);
        const std::uint64_t head = ring.header().data_head;
        bytes_.assign(ring.ring().data(), ring.ring().data() + head);
        type = half();
        misc = quarter();
        size = quarter();
        EXPECT_EQ(size, head);
        EXPECT_EQ(size % 8, 0);
    }

    // The next 8, 4, 2 or 1 bytes.
    std::uint64_t word() { return take<std::uint64_t>(); }
    std::uint32_t half() { return take<std::uint32_t>(); }
    std::uint16_t quarter() { return take<std::uint16_t>(); }
    unsigned byte() { return take<std::uint8_t>(); }
    /// The text up to the next zero byte; then skips the padding.
    std::string name() {
        std::string text;
        while (const char letter = static_cast<char>(byte())) text.push_back(letter);
        padding();
        return text;
    }
    /// Skips to a multiple of 8; every skipped byte must be 0.
    void padding() {
        while (at_ % 8 != 0) EXPECT_EQ(byte(), 0u);
    }
    /// Checks that only the trailer is left.
    void ends() {
        EXPECT_EQ(word(), (11ull << 32) | 10) << "TID of the trailer";
        EXPECT_EQ(word(), 7u) << "IDENTIFIER of the trailer";
        EXPECT_EQ(at_, bytes_.size());
    }

    // The fields of the header.
    std::uint32_t type;
    std::uint16_t misc;
    std::uint16_t size;

  private:
    template <typename T>
    T take() {
        T value{};
        EXPECT_LE(at_ + sizeof value, bytes_.size());
        if (at_ + sizeof value <= bytes_.size()) std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    std::vector<std::byte> bytes_;
    std::size_t at_ = 0;
};

}  // namespace anyperf::subsystem::testing
