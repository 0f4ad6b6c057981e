#include "recording/ring.h"

#include <gtest/gtest.h>

#include <cstring>

#include "abi/mmap_page.h"

namespace anyperf::recording {
namespace {

constexpr std::size_t kPage = 4096;

/// A ring of one page of data, and its writer.
class TestRing {
  public:
    std::span<std::byte> memory() { return {reinterpret_cast<std::byte*>(memory_), sizeof memory_}; }

    void write(std::uint16_t size, std::uint8_t content) {
        std::vector<std::byte> record(size, std::byte{content});
        const perfdata::RecordHeader header{perfdata::RecordType::sample, 0, size};
        std::memcpy(record.data(), &header, sizeof header);
        for (const std::byte byte : record) memory()[kPage + head_++ % kPage] = byte;
        set(offsetof(abi::MmapPage, data_head), head_);
    }
    void set(std::size_t offset, std::uint64_t value) { std::memcpy(memory().data() + offset, &value, sizeof value); }
    std::uint64_t tail() {
        std::uint64_t value = 0;
        std::memcpy(&value, memory().data() + offsetof(abi::MmapPage, data_tail), sizeof value);
        return value;
    }

  private:
    alignas(8) unsigned char memory_[2 * kPage] = {};
    std::uint64_t head_ = 0;
};

std::vector<std::size_t> sizes_of(Ring& ring, std::size_t limit, Ring::Records& records) {
    std::vector<std::size_t> sizes;
    records = ring.next(limit, [&](Bytes record) { sizes.push_back(record.size()); });
    return sizes;
}

TEST(Ring, RecordsComeInOrderAndAreReleased) {
    TestRing memory;
    Ring ring{memory.memory(), Ring::Writer::kernel};
    memory.write(16, 1);
    memory.write(24, 2);
    Ring::Records records;
    EXPECT_EQ(sizes_of(ring, kPage, records), (std::vector<std::size_t>{16, 24}));
    EXPECT_EQ(records.first.size(), 40U);
    EXPECT_EQ(memory.tail(), 0U);
    ring.release(records.end);
    EXPECT_EQ(memory.tail(), 40U);
    EXPECT_TRUE(ring.next(kPage, [](Bytes) {}).empty());
}

TEST(Ring, ALimitEndsBetweenRecordsButAllowsOne) {
    TestRing memory;
    Ring ring{memory.memory(), Ring::Writer::kernel};
    memory.write(16, 1);
    memory.write(24, 2);
    Ring::Records records;
    EXPECT_EQ(sizes_of(ring, 20, records), (std::vector<std::size_t>{16}));
    EXPECT_EQ(sizes_of(ring, 8, records), (std::vector<std::size_t>{16}));
}

TEST(Ring, ARecordThatWrapsIsSeenInOnePieceAndReturnedInTwo) {
    TestRing memory;
    Ring ring{memory.memory(), Ring::Writer::kernel};
    memory.write(4000, 1);
    ring.release(ring.next(kPage, [](Bytes) {}).end);
    memory.write(200, 7);
    std::size_t sevens = 0;
    const auto records = ring.next(kPage, [&](Bytes record) {
        for (const std::byte byte : record.subspan(8)) sevens += byte == std::byte{7} ? 1 : 0;
    });
    EXPECT_EQ(sevens, 192U);
    EXPECT_EQ(records.first.size(), 96U);
    EXPECT_EQ(records.second.size(), 104U);
}

TEST(Ring, ChangesByAProgramAfterTheCheckAreNotUsed) {
    TestRing memory;
    Ring ring{memory.memory(), Ring::Writer::programs};
    memory.write(4000, 1);
    ring.release(ring.next(kPage, [](Bytes) {}).end);
    memory.write(16, 2);
    memory.write(200, 3);  // wraps
    const auto records = ring.next(kPage, [&](Bytes) {
        for (std::byte& byte : memory.memory().subspan(kPage)) byte = std::byte{0xff};
    });
    EXPECT_EQ(ring.damages(), 0U);
    std::vector<std::byte> written{records.first.begin(), records.first.end()};
    written.insert(written.end(), records.second.begin(), records.second.end());
    ASSERT_EQ(written.size(), 216U);
    EXPECT_EQ(perfdata::load<perfdata::RecordHeader>(written.data()).size, 16U);
    EXPECT_EQ(perfdata::load<perfdata::RecordHeader>(written.data() + 16).size, 200U);
    EXPECT_EQ(written.back(), std::byte{3});
}

TEST(Ring, ImpossibleContentsAreDroppedAndCounted) {
    TestRing memory;
    Ring ring{memory.memory(), Ring::Writer::kernel};
    memory.set(offsetof(abi::MmapPage, data_head), std::uint64_t{1} << 40);  // further than the ring is large
    EXPECT_TRUE(ring.next(kPage, [](Bytes) {}).empty());
    EXPECT_EQ(ring.damages(), 1U);

    TestRing other;
    Ring second{other.memory(), Ring::Writer::kernel};
    other.write(16, 1);
    other.set(kPage, 0);  // a record of no bytes
    EXPECT_TRUE(second.next(kPage, [](Bytes) {}).empty());
    EXPECT_EQ(second.damages(), 1U);
    EXPECT_EQ(other.tail(), 16U);

    TestRing third;
    Ring last{third.memory(), Ring::Writer::kernel};
    third.write(16, 1);
    third.set(offsetof(abi::MmapPage, data_head), 13);  // not a multiple of 8, and less than the record
    EXPECT_TRUE(last.next(kPage, [](Bytes) {}).empty());
    EXPECT_EQ(last.damages(), 1U);
}

}  // namespace
}  // namespace anyperf::recording
