#include "recording/drain.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "abi/mmap_page.h"
#include "abi/sample_bits.h"

namespace anyperf::recording {
namespace {

constexpr std::size_t kHeaderPage = 4096;
constexpr std::uint16_t kRecord = 1 << 15;

/// A ring that is full of samples.
class FullRing {
  public:
    explicit FullRing(std::size_t bytes) : memory_((kHeaderPage + bytes) / 8) {
        for (std::size_t at = 0; at < bytes; at += kRecord) {
            const perfdata::RecordHeader header{perfdata::RecordType::sample, 0, kRecord};
            std::memcpy(memory().data() + kHeaderPage + at, &header, sizeof header);
        }
        const std::uint64_t head = bytes;
        std::memcpy(memory().data() + offsetof(abi::MmapPage, data_head), &head, sizeof head);
    }
    std::span<std::byte> memory() { return std::as_writable_bytes(std::span{memory_}); }

  private:
    std::vector<std::uint64_t> memory_;
};

class Drained : public testing::Test {
  public:
    Drained() {
        attr_.sample_type =
            abi::sample("PERF_SAMPLE_IP") | abi::sample("PERF_SAMPLE_TID") | abi::sample("PERF_SAMPLE_TIME");
    }
    ~Drained() override { std::filesystem::remove(path_); }

    abi::Attr attr_;
    std::string path_ = testing::TempDir() + "drained." + std::to_string(::getpid());
};

TEST_F(Drained, TheRestOfALargeRingIsWrittenAtTheEnd) {
    constexpr std::size_t kBytes = 64 << 20;
    FullRing memory{kBytes};
    Ring ring{memory.memory(), Ring::Writer::kernel};
    auto output = perfdata::RecordOutput::create(path_);
    ASSERT_TRUE(output);
    Drain drain{*output, attr_};
    drain.leave_rounds_open();
    EXPECT_TRUE(drain.round({&ring, 1}));
    EXPECT_LT(drain.samples(), kBytes / kRecord);  // other rings are waiting
    EXPECT_TRUE(drain.rest({&ring, 1}));
    EXPECT_EQ(drain.samples(), kBytes / kRecord);
    EXPECT_TRUE(output->end());
    EXPECT_EQ(std::filesystem::file_size(path_), kBytes);
}

TEST_F(Drained, CountsOfThreadsAreAddedUp) {
    FullRing memory{1 << 20};
    Ring ring{memory.memory(), Ring::Writer::kernel};
    auto output = perfdata::RecordOutput::create(path_);
    ASSERT_TRUE(output);
    Drain all{*output, attr_}, one{*output, attr_};
    EXPECT_TRUE(one.rest({&ring, 1}));
    all.add_counts(one);
    all.add_counts(one);
    EXPECT_EQ(all.samples(), 2 * one.samples());
}

}  // namespace
}  // namespace anyperf::recording
