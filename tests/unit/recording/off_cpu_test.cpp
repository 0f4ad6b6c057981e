#include "recording/merged/off_cpu.h"

#include <gtest/gtest.h>

#include "abi/attr_flags.h"
#include "abi/constant.h"
#include "abi/records.h"
#include "abi/sample_bits.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::recording {
namespace {

using perfdata::RecordType;
using perfdata::RecordWriter;

constexpr std::uint64_t kUser = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER");
constexpr std::uint16_t kOut = 1 << 13, kPreempt = 1 << 14;
constexpr std::uint32_t kTid = 7;

/// Two events; the second one is that of waits. Its ids are 1 and 2.
std::vector<perfdata::EventInfo> two_events() {
    abi::Attr attr{};
    attr.sample_type = abi::sample("PERF_SAMPLE_IDENTIFIER") | abi::sample("PERF_SAMPLE_IP") |
                       abi::sample("PERF_SAMPLE_TID") | abi::sample("PERF_SAMPLE_TIME") |
                       abi::sample("PERF_SAMPLE_PERIOD") | abi::sample("PERF_SAMPLE_CALLCHAIN");
    attr.flags = abi::flag("sample_id_all");
    return {{.attr = attr, .ids = {1}, .name = "cycles", .unit = {}},
            {.attr = attr, .ids = {2}, .name = kOffCpuEvent, .unit = {}}};
}

std::vector<std::byte> sample(std::uint64_t id, std::uint64_t time, const std::vector<std::uint64_t>& chain) {
    RecordWriter record{RecordType::sample, perfdata::kMiscKernel};
    record.u64(id).u64(0xffff'8000).u32(kTid).u32(kTid).u64(time).u64(1).u64(chain.size());
    for (const std::uint64_t word : chain) record.u64(word);
    return record.finish();
}

std::vector<std::byte> with_trailer(RecordWriter record, std::uint64_t time) {
    record.u32(kTid).u32(kTid).u64(time).u64(1);
    return record.finish();
}

std::vector<std::byte> switched(std::uint64_t time, std::uint16_t misc) {
    return with_trailer(RecordWriter{RecordType::switch_, misc}, time);
}

std::vector<std::byte> task(RecordType type, std::uint64_t time) {
    RecordWriter record{type, 0};
    record.u32(kTid).u32(1).u32(kTid).u32(1).u64(time);
    return with_trailer(std::move(record), time);
}

const std::vector<std::uint64_t> kChain{kUser, 0x1000, 0x2000};

TEST(OffCpuTimes, AWaitHasItsTimeAsPeriodAndTheUsersAddress) {
    OffCpuTimes times{two_events(), false};
    EXPECT_FALSE(times.take(sample(1, 5, kChain)));
    EXPECT_TRUE(times.take(sample(2, 10, kChain)));
    EXPECT_TRUE(times.follow(switched(11, kOut)).empty());
    const Bytes written = times.follow(switched(111, 0));
    perfdata::Sample read;
    ASSERT_TRUE(perfdata::SampleLayout{two_events().front().attr}.decode(written, read));
    EXPECT_EQ(read.period, 100U);
    EXPECT_EQ(read.time, 111U);
    EXPECT_EQ(read.ip, 0x1000U);
    EXPECT_EQ(read.misc & perfdata::kMiscModeMask, perfdata::kMiscUser);
    EXPECT_TRUE(times.follow(switched(200, 0)).empty());
}

TEST(OffCpuTimes, APreemptedThreadDoesNotWait) {
    OffCpuTimes times{two_events(), false};
    times.take(sample(2, 10, kChain));
    times.follow(switched(11, kOut | kPreempt));
    EXPECT_TRUE(times.follow(switched(111, 0)).empty());
}

TEST(OffCpuTimes, AWaitWithoutItsStartIsLeftOut) {
    OffCpuTimes times{two_events(), false};
    times.take(sample(2, 10, kChain));
    EXPECT_TRUE(times.follow(switched(111, 0)).empty());
    EXPECT_TRUE(times.follow(switched(120, kOut)).empty());
    EXPECT_TRUE(times.follow(switched(130, 0)).empty());
}

TEST(OffCpuTimes, TheLastSwitchOfAThreadIsNotAWaitOfTheNextThreadWithItsId) {
    OffCpuTimes times{two_events(), false};
    times.follow(task(RecordType::exit, 9));
    times.take(sample(2, 10, kChain));
    times.follow(switched(11, kOut));
    times.follow(task(RecordType::fork, 50));
    EXPECT_TRUE(times.follow(switched(51, 0)).empty());
    times.take(sample(2, 60, kChain));
    times.follow(switched(61, kOut));
    EXPECT_FALSE(times.follow(switched(71, 0)).empty());
}

TEST(OffCpuTimes, ThreadsOfTheKernelAreLeftOut) {
    OffCpuTimes times{two_events(), false};
    EXPECT_TRUE(times.take(sample(2, 10, {})));
    times.follow(switched(11, kOut));
    EXPECT_TRUE(times.follow(switched(111, 0)).empty());
}

TEST(OffCpuTimes, SwitchesAreWrittenOnlyIfTheyAreWanted) {
    EXPECT_FALSE((OffCpuTimes{two_events(), false}.wants(switched(1, 0))));
    EXPECT_TRUE((OffCpuTimes{two_events(), true}.wants(switched(1, 0))));
    EXPECT_TRUE((OffCpuTimes{two_events(), false}.wants(task(RecordType::fork, 1))));
}

}  // namespace
}  // namespace anyperf::recording
