// sample_test.cpp: the layout of SAMPLE records, for each field and for combinations of fields.
#include "subsystem/shared/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "abi/branch_types.h"
#include "unit/subsystem/shared/test_ring.h"

namespace anyperf::subsystem {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::TestRing;

class Sample : public ::testing::Test {
  protected:
    Sample() {
        std::iota(std::begin(registers), std::end(registers), 100);
        ring.event.shape.read_format = abi::read_format("PERF_FORMAT_ID");
        ring.event.shape.sample_regs_user = 0xff0fff;
        facts.origin = ring.moment;
        facts.ip = 0x401000;
        facts.addr = 0x602000;
        facts.period = 1000;
        facts.read.members = {&member, 1};
        facts.user_registers = facts.interrupted_registers = registers;
    }

    std::vector<std::uint64_t> words(std::initializer_list<std::string_view> names) {
        std::uint64_t type = 0;
        for (const auto& row : abi::kSampleBits)
            if (std::ranges::find(names, row.name) != names.end()) type |= row.mask();
        return words(type);
    }

    std::vector<std::uint64_t> words(std::uint64_t type) {
        ring.event.shape.sample_type = type;
        const std::size_t bytes = sample_bytes(ring.event, facts);
        EXPECT_TRUE(write_sample(ring.ring(), ring.event, facts).written);
        const testing::Record record = ring.drain().front();
        EXPECT_EQ(record.header.type, 9u);
        EXPECT_EQ(record.header.size, bytes);
        misc = record.header.misc;
        return record.words;
    }

    TestRing ring{{.pages = 32}};
    MemberValue member{.value = 5000, .id = 7};
    std::uint64_t registers[24];
    SampleFacts facts;
    std::uint16_t misc = 0;
};

constexpr std::uint64_t kTid = (11ull << 32) | 10;

TEST_F(Sample, OfNoFieldsIsAHeader) {
    EXPECT_THAT(words(std::uint64_t{0}), ElementsAre());
    EXPECT_EQ(misc, 2) << "PERF_RECORD_MISC_USER, no EXACT_IP";
}

TEST_F(Sample, HasItsWordsInTheKernelsOrder) {
    EXPECT_THAT(
        words({"PERF_SAMPLE_IDENTIFIER", "PERF_SAMPLE_IP", "PERF_SAMPLE_TID", "PERF_SAMPLE_TIME", "PERF_SAMPLE_ADDR",
               "PERF_SAMPLE_ID", "PERF_SAMPLE_STREAM_ID", "PERF_SAMPLE_CPU", "PERF_SAMPLE_PERIOD"}),
        ElementsAre(7, 0x401000, kTid, 12, 0x602000, 7, 8, 1, 1000));
}

TEST_F(Sample, MarksAnExactIp) {
    facts.misc = kMiscUser | kMiscExactIp;
    words({"PERF_SAMPLE_IP"});
    EXPECT_EQ(misc, 0x4002);
}

TEST_F(Sample, HasTheAnswerOfRead) {
    EXPECT_THAT(words({"PERF_SAMPLE_READ"}), ElementsAre(5000, 7));
}

TEST_F(Sample, HasItsCallchainAfterItsLength) {
    const std::uint64_t chain[] = {static_cast<std::uint64_t>(-512), 0x401000, 0x400500};
    facts.callchain = chain;
    EXPECT_THAT(words({"PERF_SAMPLE_CALLCHAIN"}), ElementsAre(3, chain[0], chain[1], chain[2]));
    facts.callchain = {};
    EXPECT_THAT(words({"PERF_SAMPLE_CALLCHAIN"}), ElementsAre(0)) << "exclude_callchain_user";
}

TEST_F(Sample, WithoutRawDataHasFourBytesOfIt) {
    EXPECT_THAT(words({"PERF_SAMPLE_RAW"}), ElementsAre(4));
}

TEST_F(Sample, PadsRawDataSoThatItAndItsSizeAreAMultipleOfEight) {
    for (std::size_t bytes = 1; bytes < 30; ++bytes) {
        const std::vector<std::byte> raw(bytes, std::byte{0xff});
        facts.raw = raw;
        const auto got = words({"PERF_SAMPLE_RAW"});
        EXPECT_EQ((got[0] & 0xffff'ffff) + 4, got.size() * 8);
        EXPECT_GE((got[0] & 0xffff'ffff), bytes);
        EXPECT_LT((got[0] & 0xffff'ffff), bytes + 8);
    }
}

TEST_F(Sample, HasBranchesNewestFirst) {
    const BranchEntry branches[] = {{1, 2, 3}, {4, 5, 6}};
    facts.branches = branches;
    EXPECT_THAT(words({"PERF_SAMPLE_BRANCH_STACK"}), ElementsAre(2, 1, 2, 3, 4, 5, 6));
    ring.event.shape.branch_sample_type = abi::bit(abi::kBranchBits, "PERF_SAMPLE_BRANCH_HW_INDEX");
    EXPECT_THAT(words({"PERF_SAMPLE_BRANCH_STACK"}), ElementsAre(2, ~0ull, 1, 2, 3, 4, 5, 6));
    facts.branches = {};
    EXPECT_THAT(words({"PERF_SAMPLE_BRANCH_STACK"}), ElementsAre(0, ~0ull));
}

TEST_F(Sample, HasTheRegistersOfTheMaskInOrderOfTheirBits) {
    ring.event.shape.sample_regs_user = 0x800181;
    EXPECT_THAT(words({"PERF_SAMPLE_REGS_USER"}), ElementsAre(2, 100, 107, 108, 123));
    ring.event.shape.sample_regs_intr = 0x2;
    EXPECT_THAT(words({"PERF_SAMPLE_REGS_INTR"}), ElementsAre(2, 101));
}

TEST_F(Sample, WithoutRegistersHasAbiNone) {
    facts.user_registers = nullptr;
    EXPECT_THAT(words({"PERF_SAMPLE_REGS_USER"}), ElementsAre(0));
}

TEST_F(Sample, WithoutMemoryFactsHasDataSourceNotAvailable) {
    EXPECT_THAT(words({"PERF_SAMPLE_WEIGHT", "PERF_SAMPLE_DATA_SRC", "PERF_SAMPLE_TRANSACTION"}),
                ElementsAre(0, 0x1e05080021, 0));
}

TEST_F(Sample, EndsWithPhysicalAddressCgroupAndPageSizes) {
    facts.physical_address = 1;
    facts.cgroup = 2;
    facts.data_page_size = 3;
    facts.code_page_size = 4;
    EXPECT_THAT(words({"PERF_SAMPLE_PHYS_ADDR", "PERF_SAMPLE_CGROUP", "PERF_SAMPLE_DATA_PAGE_SIZE",
                       "PERF_SAMPLE_CODE_PAGE_SIZE", "PERF_SAMPLE_AUX"}),
                ElementsAre(1, 2, 3, 4, 0));
}

TEST_F(Sample, OfAnyCombinationHasItsStatedSizeAndItsIdentifierFirst) {
    std::uint64_t type = 1;
    for (int i = 0; i < 5000; ++i) {
        type = type * 6364136223846793005u + 1442695040888963407u;
        const auto got = words((type >> 32) & ~abi::kReservedSampleBits & 0xffffff);
        if (ring.event.shape.sample_type & abi::sample("PERF_SAMPLE_IDENTIFIER")) {
            ASSERT_EQ(got[0], 7u);
        }
    }
}

TEST_F(Sample, IsLostIfItIsLongerThanARecordCanBe) {
    const std::vector<std::uint64_t> chain(9000);
    facts.callchain = chain;
    ring.event.shape.sample_type = abi::sample("PERF_SAMPLE_CALLCHAIN");
    EXPECT_FALSE(write_sample(ring.ring(), ring.event, facts).written);
    EXPECT_EQ(ring.event.lost, 1u);
}

}  // namespace
}  // namespace anyperf::subsystem
