#include "perfdata/reader.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "perfdata/byte_order.h"
#include "perfdata/side_band.h"

namespace anyperf::perfdata {
namespace {

using abi::sample;

/// Builds the bytes of a file in one byte order.
class Writer {
  public:
    explicit Writer(bool foreign = false) : foreign_(foreign) {}

    template <class Number>
    Writer& add(Number number) {
        if (foreign_) number = reversed(number);
        bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
        return *this;
    }
    Writer& u64(std::uint64_t number) { return add(number); }
    Writer& u32(std::uint32_t number) { return add(number); }
    Writer& u16(std::uint16_t number) { return add(number); }
    Writer& text(const std::string& text) {
        bytes_ += text;
        return *this;
    }
    /// Flags of an attr: bits of each byte are reversed in the other byte order.
    Writer& flags(std::uint64_t bits) {
        for (unsigned byte = 0; byte < 8; ++byte) {
            unsigned value = bits >> byte * 8 & 255, turned = 0;
            for (unsigned bit = 0; bit < 8; ++bit) turned |= (value >> bit & 1) << (7 - bit);
            bytes_ += static_cast<char>(foreign_ ? turned : value);
        }
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
    bool foreign_;
};

constexpr std::uint64_t kSampleType = sample("PERF_SAMPLE_IP") | sample("PERF_SAMPLE_TID") |
                                      sample("PERF_SAMPLE_TIME") | sample("PERF_SAMPLE_PERIOD") |
                                      sample("PERF_SAMPLE_CALLCHAIN");
constexpr std::size_t kAttrBytes = 64;

/// Pipe mode: a header, the attr, a COMM record and two samples, the later one first.
std::string small_recording(bool foreign) {
    Writer file{foreign};
    file.add(std::uint64_t{0x32454c4946524550}).u64(16);
    file.u32(64).u16(0).u16(8 + kAttrBytes + 8);  // HEADER_ATTR with an id
    file.u32(1).u32(kAttrBytes).u64(0).u64(1000).u64(kSampleType).u64(0).flags(abi::flag("sample_id_all"));
    file.u32(1).u32(0).u64(0).u64(77);
    file.u32(3)
        .u16(1 << 13)
        .u16(8 + 8 + 8 + 16)
        .u32(5)
        .u32(6)
        .text(std::string("prog\0\0\0\0", 8))
        .u32(5)
        .u32(6)
        .u64(10);
    for (const std::uint64_t time : {30, 20})
        file.u32(9).u16(2).u16(8 + 32 + 24).u64(0x1234).u32(5).u32(6).u64(time).u64(9).u64(2).u64(-512).u64(0x1234);
    return file.bytes();
}

struct Collector : Consumer {
    bool few_fields = false;
    bool needs_few_fields() const override { return few_fields; }
    std::vector<Sample> samples;
    std::vector<std::uint64_t> chain;
    std::vector<std::string> comms;
    void sample(const Sample& sample, std::size_t) override {
        samples.push_back(sample);
        chain.clear();
        for (std::size_t i = 0; i < sample.call_chain.size(); ++i) chain.push_back(sample.call_chain[i]);
    }
    void record(const Record& record) override {
        if (const auto comm = read_comm(record.bytes); comm && record.type == RecordType::comm)
            comms.emplace_back(comm->comm);
    }
};

class Recording : public testing::TestWithParam<bool> {
  protected:
    Result<Reader> open(const std::string& bytes) {
        path_ = std::filesystem::temp_directory_path() / ("anyperf-reader-" + std::to_string(getpid()));
        std::ofstream{path_, std::ios::binary} << bytes;
        auto reader = Reader::open(path_);
        std::filesystem::remove(path_);
        return reader;
    }

  private:
    std::filesystem::path path_;
};

TEST_P(Recording, IsReadInTheOrderOfTime) {
    auto reader = open(small_recording(GetParam()));
    ASSERT_TRUE(reader) << reader.error().cause;
    Collector found;
    const Summary summary = reader->read(found);
    EXPECT_FALSE(summary.damage) << summary.damage->cause;
    EXPECT_EQ(found.comms, std::vector<std::string>{"prog"});
    ASSERT_EQ(found.samples.size(), 2u);
    EXPECT_EQ(found.samples[0].time, 20u);
    EXPECT_EQ(found.samples[1].time, 30u);
    EXPECT_EQ(found.samples[0].tid, 6u);
    EXPECT_EQ(found.samples[0].period, 9u);
    EXPECT_EQ(found.chain, (std::vector<std::uint64_t>{static_cast<std::uint64_t>(-512), 0x1234}));
}

TEST_P(Recording, CutAnywhereGivesWhatComesBeforeAndAnOffset) {
    const std::string whole = small_recording(GetParam());
    for (std::size_t size = 17; size < whole.size(); ++size) {
        auto reader = open(whole.substr(0, size));
        ASSERT_TRUE(reader) << size;
        Collector found;
        const Summary summary = reader->read(found);
        EXPECT_LT(found.samples.size(), 2u);
        if (summary.damage) {
            EXPECT_NE(summary.damage->cause.find("offset "), std::string::npos);
        }
    }
}

// The sanitizers look for reads past the end; here it must only come to an end.
TEST_P(Recording, WithAnyByteChangedIsReadToSomeEnd) {
    const std::string whole = small_recording(GetParam());
    for (std::size_t at = 16; at < whole.size(); ++at)
        for (const unsigned value : {0x00u, 0x7fu, 0xffu}) {
            std::string changed = whole;
            changed[at] = static_cast<char>(value);
            auto reader = open(changed);
            if (!reader) continue;
            Collector found;
            EXPECT_LE(reader->read(found).samples, 100u);
        }
}

// Damage counts, too, where it is in a field that is not needed.
TEST_P(Recording, OfWhichFewFieldsAreNeededHasTheSameSamples) {
    const std::string whole = small_recording(GetParam());
    for (std::size_t at = 16; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x5a);
        auto one = open(changed), other = open(changed);
        ASSERT_EQ(one.has_value(), other.has_value());
        if (!one) continue;
        Collector all, few;
        few.few_fields = true;
        const Summary of_all = one->read(all), of_few = other->read(few);
        EXPECT_EQ(of_all.samples, of_few.samples) << at;
        EXPECT_EQ(of_all.damaged_samples, of_few.damaged_samples) << at;
        EXPECT_EQ(of_all.damage.has_value(), of_few.damage.has_value()) << at;
        EXPECT_EQ(all.comms, few.comms);
        ASSERT_EQ(all.samples.size(), few.samples.size()) << at;
        for (std::size_t i = 0; i < all.samples.size(); ++i) {
            EXPECT_EQ(all.samples[i].ip, few.samples[i].ip);
            EXPECT_EQ(all.samples[i].time, few.samples[i].time);
            EXPECT_EQ(all.samples[i].tid, few.samples[i].tid);
            EXPECT_EQ(all.samples[i].period, few.samples[i].period);
            EXPECT_EQ(all.samples[i].misc, few.samples[i].misc);
        }
    }
}

struct Places : Consumer {
    std::vector<std::uint64_t> offsets, offsets_of_samples, times;
    std::vector<std::size_t> sizes;
    bool needs_places() const override { return true; }
    void place(const RecordPlace& place) override {
        offsets.push_back(place.offset);
        sizes.push_back(place.bytes.size());
    }
    void sample(const Sample& sample, std::size_t) override {
        offsets_of_samples.push_back(offsets.back());
        times.push_back(sample.time);
    }
    void record(const Record&) override {}
};

// The attr, the name and the later sample come first in the file.
TEST_P(Recording, HasThePlaceOfEachRecord) {
    auto reader = open(small_recording(GetParam()));
    ASSERT_TRUE(reader);
    Places found;
    reader->read(found);
    constexpr std::uint64_t kAttr = 16, kComm = kAttr + 8 + kAttrBytes + 8, kLater = kComm + 40, kEarlier = kLater + 64;
    EXPECT_EQ(found.offsets, (std::vector<std::uint64_t>{kAttr, kComm, kEarlier, kLater}));
    EXPECT_EQ(found.sizes, (std::vector<std::size_t>{8 + kAttrBytes + 8, 40, 64, 64}));
    EXPECT_EQ(found.offsets_of_samples, (std::vector<std::uint64_t>{kEarlier, kLater}));
    EXPECT_EQ(found.times, (std::vector<std::uint64_t>{20, 30}));
}

INSTANTIATE_TEST_SUITE_P(ByteOrders, Recording, testing::Values(false, true),
                         [](const auto& order) { return order.param ? "foreign" : "own"; });

/// Pipe mode: two rings with `count` samples each, whose times alternate, and no mark between them.
std::string two_rings(std::uint64_t count) {
    Writer file;
    file.u64(0x32454c4946524550).u64(16);
    file.u32(64).u16(0).u16(8 + kAttrBytes + 8);
    file.u32(1).u32(kAttrBytes).u64(0).u64(1000).u64(kSampleType).u64(0).flags(0).u32(1).u32(0).u64(0).u64(77);
    for (const std::uint64_t ring : {2, 1})
        for (std::uint64_t i = 0; i < count; ++i)
            file.u32(9)
                .u16(2)
                .u16(8 + 32 + 32)
                .u64(i)
                .u32(5)
                .u32(6)
                .u64(2 * i + ring)
                .u64(9)
                .u64(3)
                .u64(-512)
                .u64(i)
                .u64(ring);
    return file.bytes();
}

// More than the queue keeps in chunks, so that some of the records are used in the mapping; and records lie across the
// ends of chunks.
TEST_F(Recording, OfManyMegabytesIsReadInTheOrderOfTime) {
    constexpr std::uint64_t kCount = 100'000;
    auto reader = open(two_rings(kCount));
    ASSERT_TRUE(reader);
    struct Checker : Consumer {
        std::uint64_t last = 0, wrong = 0;
        void sample(const Sample& sample, std::size_t) override {
            wrong += sample.time != ++last || sample.call_chain.size() != 3 || sample.call_chain[1] != sample.ip;
        }
        void record(const Record&) override {}
    } found;
    const Summary summary = reader->read(found);
    EXPECT_FALSE(summary.damage);
    EXPECT_EQ(summary.samples, 2 * kCount);
    EXPECT_EQ(summary.late, 0u);
    EXPECT_EQ(found.last, 2 * kCount);
    EXPECT_EQ(found.wrong, 0u);
}

TEST_F(Recording, UndeclaredIdsOfSamplesAreCounted) {
    Writer file;
    file.u64(0x32454c4946524550).u64(16);
    for (const std::uint64_t id : {1, 2}) {
        file.u32(64).u16(0).u16(8 + kAttrBytes + 8).u32(1).u32(kAttrBytes).u64(0).u64(1000);
        file.u64(sample("PERF_SAMPLE_IDENTIFIER")).u64(0).u64(0).u64(0).u64(0).u64(id);
    }
    for (const std::uint64_t id : {1, 2, 3}) file.u32(9).u16(2).u16(16).u64(id);
    auto reader = open(file.bytes());
    ASSERT_TRUE(reader);
    Collector found;
    const Summary summary = reader->read(found);
    EXPECT_EQ(summary.samples, 2u);
    EXPECT_EQ(summary.unknown_ids, 1u);
    EXPECT_EQ(found.samples[1].period, 1000u);
}

}  // namespace
}  // namespace anyperf::perfdata
