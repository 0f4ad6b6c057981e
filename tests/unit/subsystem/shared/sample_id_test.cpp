// sample_id_test.cpp: the trailer that sample_id_all adds to records.
#include "subsystem/shared/sample_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/subsystem/shared/test_ring.h"

namespace anyperf::subsystem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestRing;

std::vector<std::uint64_t> trailer(std::uint64_t flags, std::uint64_t sample_type) {
    TestRing ring;
    ring.event.shape.flags = flags;
    ring.event.shape.sample_type = sample_type;
    ring.write(8);
    return ring.drain().front().words;
}

constexpr std::uint64_t kTid = (11ull << 32) | 10;

TEST(Trailer, HasTidTimeIdStreamIdCpuIdentifier) {
    EXPECT_THAT(trailer(abi::flag("sample_id_all"), ~abi::kReservedSampleBits), ElementsAre(kTid, 12, 7, 8, 1, 7));
}

TEST(Trailer, HasOnlyTheFieldsInSampleType) {
    EXPECT_THAT(trailer(abi::flag("sample_id_all"), abi::sample("PERF_SAMPLE_CPU") | abi::sample("PERF_SAMPLE_IP")),
                ElementsAre(1));
    EXPECT_THAT(trailer(abi::flag("sample_id_all"), abi::sample("PERF_SAMPLE_ADDR")), IsEmpty());
}

TEST(Trailer, IsAbsentWithoutSampleIdAll) {
    EXPECT_THAT(trailer(0, ~abi::kReservedSampleBits), IsEmpty());
}

}  // namespace
}  // namespace anyperf::subsystem
