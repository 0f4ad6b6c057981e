// The trailer of sample_id_all.
#include "subsystem/shared/sample_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/subsystem/shared/a_ring.h"

namespace anyperf::subsystem {
namespace {

using testing::ARing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint64_t> trailer(std::uint64_t flags, std::uint64_t sample_type) {
    ARing ring;
    ring.event.shape.flags = flags;
    ring.event.shape.sample_type = sample_type;
    ring.write(8);
    return ring.drain().front().words;
}

constexpr std::uint64_t kTid = (11ull << 32) | 10;

TEST(Trailer, IsTidTimeIdStreamIdCpuIdentifier) {
    EXPECT_THAT(trailer(abi::flag("sample_id_all"), ~abi::kReservedSampleBits), ElementsAre(kTid, 12, 7, 8, 1, 7));
}

TEST(Trailer, HasThoseThatSampleTypeHas) {
    EXPECT_THAT(trailer(abi::flag("sample_id_all"), abi::sample("PERF_SAMPLE_CPU") | abi::sample("PERF_SAMPLE_IP")),
                ElementsAre(1));
    EXPECT_THAT(trailer(abi::flag("sample_id_all"), abi::sample("PERF_SAMPLE_ADDR")), IsEmpty());
}

TEST(Trailer, IsAbsentWithoutSampleIdAll) {
    EXPECT_THAT(trailer(0, ~abi::kReservedSampleBits), IsEmpty());
}

}  // namespace
}  // namespace anyperf::subsystem
