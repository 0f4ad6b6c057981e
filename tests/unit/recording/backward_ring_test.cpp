#include "recording/backward_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "abi/mmap_page.h"

namespace anyperf::recording {
namespace {

/// A ring of one page of data, and its writer.
class OverwrittenRing {
  public:
    BackwardRing ring() const { return BackwardRing{memory_}; }

    void write(std::uint16_t size, std::uint8_t content) {
        std::vector<std::byte> record(size, std::byte{content});
        const perfdata::RecordHeader header{perfdata::RecordType::sample, 0, size};
        std::memcpy(record.data(), &header, sizeof header);
        head_ -= size;
        for (std::size_t i = 0; i < size; ++i) memory_[kBytes + (head_ + i) % kBytes] = record[i];
        std::memcpy(memory_.data() + offsetof(abi::MmapPage, data_head), &head_, sizeof head_);
    }
    void spoil(std::size_t at) { std::memset(memory_.data() + kBytes + at, 0, 8); }

  private:
    static constexpr std::size_t kBytes = 4096;  // of the header page, and of the data
    std::vector<std::byte> memory_ = std::vector<std::byte>(2 * kBytes);
    std::uint64_t head_ = 0;
};

/// The last byte of each record.
std::string contents(const std::vector<std::byte>& records) {
    std::string text;
    for (std::size_t at = 0; at < records.size();) {
        at += perfdata::load<perfdata::RecordHeader>(records.data() + at).size;
        text += static_cast<char>(records[at - 1]);
    }
    return text;
}

TEST(BackwardRing, TheOldestRecordComesFirst) {
    OverwrittenRing memory;
    BackwardRing ring = memory.ring();
    EXPECT_EQ(contents(ring.take()), "");
    memory.write(16, 'a');
    memory.write(24, 'b');
    memory.write(16, 'c');
    EXPECT_EQ(contents(ring.take()), "abc");
}

TEST(BackwardRing, ASecondTakeHasOnlyNewRecords) {
    OverwrittenRing memory;
    BackwardRing ring = memory.ring();
    memory.write(16, 'a');
    EXPECT_EQ(contents(ring.take()), "a");
    EXPECT_EQ(contents(ring.take()), "");
    memory.write(16, 'b');
    EXPECT_EQ(contents(ring.take()), "b");
}

TEST(BackwardRing, OverwrittenRecordsAreLeftOut) {
    OverwrittenRing memory;
    BackwardRing ring = memory.ring();
    for (char name = 'a'; name <= 'f'; ++name) memory.write(1000, static_cast<std::uint8_t>(name));
    EXPECT_EQ(contents(ring.take()), "cdef");  // 96 bytes of b are left
}

TEST(BackwardRing, ImpossibleContentsEndTheCopy) {
    OverwrittenRing memory;
    BackwardRing ring = memory.ring();
    for (char name = 'a'; name <= 'd'; ++name) memory.write(1000, static_cast<std::uint8_t>(name));
    memory.spoil(4096 - 2000);  // the header of b
    EXPECT_EQ(contents(ring.take()), "cd");
}

}  // namespace
}  // namespace anyperf::recording
