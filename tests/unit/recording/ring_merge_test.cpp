#include "recording/merged/ring_merge.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "abi/attr_flags.h"
#include "abi/mmap_page.h"
#include "abi/sample_bits.h"

namespace anyperf::recording {
namespace {

using perfdata::RecordType;

constexpr std::size_t kPageBytes = 4096;

/// A ring of one page of data, and its writer.
class TimedRing {
  public:
    Ring ring() { return Ring{{memory_.get(), 2 * kPageBytes}, Ring::Writer::kernel}; }

    /// A record of 24 bytes: of a sample TIME is its only field, and of others the only one of the sample id.
    void write(RecordType type, std::uint64_t time) {
        const perfdata::RecordHeader header{type, 0, 24};
        std::byte record[24] = {};
        std::memcpy(record, &header, sizeof header);
        std::memcpy(record + (type == RecordType::sample ? 8 : 16), &time, sizeof time);
        for (const std::byte byte : record) memory_[kPageBytes + head_++ % kPageBytes] = byte;
        std::memcpy(memory_.get() + offsetof(abi::MmapPage, data_head), &head_, sizeof head_);
    }
    std::uint64_t tail() const {
        return perfdata::load<std::uint64_t>(memory_.get() + offsetof(abi::MmapPage, data_tail));
    }

  private:
    std::unique_ptr<std::byte[]> memory_ = std::make_unique<std::byte[]>(2 * kPageBytes);
    std::uint64_t head_ = 0;
};

perfdata::SampleLayout only_time() {
    abi::Attr attr{};
    attr.sample_type = abi::sample("PERF_SAMPLE_TIME");
    attr.flags = abi::flag("sample_id_all");
    return perfdata::SampleLayout{attr};
}

/// What a round gives: "s3" is a sample of time 3, "m3" a map that is known before it.
std::string round_of(RingMerge& merge, std::span<Ring> rings) {
    std::string text;
    merge.begin(rings);
    while (const auto next = merge.next()) {
        while (const auto map = merge.next_side_band(next->time))
            text += "m" + std::to_string(perfdata::load<std::uint64_t>(map->data() + 16)) + " ";
        if (perfdata::load<perfdata::RecordHeader>(next->record.data()).type == RecordType::sample)
            text += "s" + std::to_string(next->time) + " ";
    }
    return text;
}

TEST(RingMerge, RecordsOfAllRingsComeInTheOrderOfTime) {
    TimedRing first, second;
    std::vector<Ring> rings{first.ring(), second.ring()};
    for (const std::uint64_t time : {1, 4, 5}) first.write(RecordType::sample, time);
    for (const std::uint64_t time : {2, 3, 6}) second.write(RecordType::sample, time);
    const auto layout = only_time();
    RingMerge merge{layout};
    EXPECT_EQ(round_of(merge, rings), "s1 s2 s3 s4 s5 s6 ");
    EXPECT_EQ(first.tail(), 72U);
    EXPECT_EQ(second.tail(), 72U);
}

TEST(RingMerge, AMapOfAnyRingIsKnownBeforeTheSamplesAfterIt) {
    TimedRing first, second;
    std::vector<Ring> rings{first.ring(), second.ring()};
    first.write(RecordType::sample, 1);
    first.write(RecordType::sample, 4);
    second.write(RecordType::mmap2, 3);
    second.write(RecordType::mmap2, 7);
    const auto layout = only_time();
    RingMerge merge{layout};
    EXPECT_EQ(round_of(merge, rings), "s1 m3 s4 m7 ");
    first.write(RecordType::sample, 9);
    EXPECT_EQ(round_of(merge, rings), "s9 ");
}

TEST(RingMerge, ARingThatWrapsIsReadOn) {
    TimedRing memory;
    std::vector<Ring> rings{memory.ring()};
    const auto layout = only_time();
    RingMerge merge{layout};
    std::string expected;
    for (std::uint64_t i = 0; i < 100; ++i) memory.write(RecordType::sample, i + 1);
    round_of(merge, rings);
    for (std::uint64_t i = 0; i < 100; ++i) {  // 170 records of 24 bytes are a page
        memory.write(RecordType::sample, 101 + i);
        expected += "s" + std::to_string(101 + i) + " ";
    }
    EXPECT_EQ(round_of(merge, rings), expected);
}

}  // namespace
}  // namespace anyperf::recording
