// ring_test.cpp: the ring as a program sees that maps it. The expected values are those of Linux 6.18.
#include "subsystem/shared/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/subsystem/shared/test_ring.h"

namespace anyperf::subsystem {
namespace {

using ::testing::ElementsAre;
using testing::Record;
using ::testing::SizeIs;
using testing::TestRing;

constexpr std::uint32_t kLostType = 2;

TEST(RingHeader, DescribesAnEventWithoutAHardwareCounter) {
    TestRing ring{{.pages = 4}};
    const abi::MmapPage& header = ring.header();
    EXPECT_EQ(header.version, 0u);
    EXPECT_EQ(header.compat_version, 0u);
    EXPECT_EQ(header.size, 96u);
    EXPECT_EQ(header.capabilities, 2u) << "only cap_bit0_is_deprecated";
    EXPECT_EQ(header.data_offset, 4096u);
    EXPECT_EQ(header.data_size, 4u * 4096);
    EXPECT_EQ(header.index, 0u);
    EXPECT_EQ(header.pmc_width, 0u);
    EXPECT_EQ(header.aux_offset, 0u);
    EXPECT_EQ(header.aux_size, 0u);
}

TEST(RingHeader, WithoutDataPagesLosesNothing) {
    TestRing ring{{.pages = 0}};
    EXPECT_EQ(ring.header().data_size, 0u);
    EXPECT_FALSE(ring.write(16).written);
    EXPECT_EQ(ring.event.lost, 0u);
}

TEST(RingHeader, TimesAreWrittenUnderALockThatEndsEven) {
    TestRing ring;
    publish(ring.header(), {.enabled = 100, .running = 90, .index = 0, .offset = 5});
    EXPECT_EQ(ring.header().lock, 2u);
    EXPECT_EQ(ring.header().time_enabled, 100u);
    EXPECT_EQ(ring.header().time_running, 90u);
    EXPECT_EQ(ring.header().offset, 5);
}

TEST(Ring, HeadGrowsByTheRecordSizesAndNeverWraps) {
    TestRing ring;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(ring.write(40, 100).written);
        ASSERT_THAT(ring.drain(), SizeIs(1));
    }
    EXPECT_EQ(ring.header().data_head, 40'000u);
}

TEST(Ring, RecordsWrapAroundTheEndOfTheData) {
    TestRing ring;
    for (std::uint64_t i = 0; i < 300; ++i) {
        ASSERT_TRUE(ring.write(56, i).written);
        EXPECT_THAT(ring.drain(), ElementsAre(Record{{.type = 3}, {i, i + 1, i + 2, i + 3, i + 4, i + 5}}));
    }
}

TEST(Ring, NeverFillsItsLastByte) {
    TestRing ring;
    int written = 0;
    while (ring.write(16).written) ++written;
    EXPECT_EQ(written, 255) << "records of 16 bytes in 4096";
    EXPECT_EQ(ring.event.lost, 1u);
    EXPECT_EQ(ring.page().lost, 1u);
}

TEST(Ring, ReportsLossBeforeTheNextRecordThatFits) {
    TestRing ring;
    while (ring.write(16).written) continue;
    EXPECT_FALSE(ring.write(16).written);
    ring.drain();
    ASSERT_TRUE(ring.write(16, 5).written);
    EXPECT_THAT(ring.drain(), ElementsAre(Record{{.type = kLostType}, {7, 2}}, Record{{.type = 3}, {5}}));
    ASSERT_TRUE(ring.write(16, 6).written);
    EXPECT_THAT(ring.drain(), ElementsAre(Record{{.type = 3}, {6}}));
}

TEST(Ring, WritesNoRecordWithoutRoomForTheLostRecordBeforeIt) {
    TestRing ring;
    while (ring.write(16).written) continue;
    ring.header().data_tail = 16;
    EXPECT_FALSE(ring.write(16).written) << "16 bytes are free, but the LOST record needs 24 more";
    ring.header().data_tail = 40;
    EXPECT_TRUE(ring.write(16).written);
}

TEST(Ring, LostRecordHasTheTrailerOfTheWriter) {
    TestRing ring;
    ring.page().lost = 3;
    ring.event.shape.flags = abi::flag("sample_id_all");
    ring.event.shape.sample_type = abi::sample("PERF_SAMPLE_TID") | abi::sample("PERF_SAMPLE_STREAM_ID");
    ASSERT_TRUE(ring.write(16).written);
    const std::uint64_t tid = (11ull << 32) | 10;
    EXPECT_THAT(ring.drain(),
                ElementsAre(Record{{.type = kLostType}, {7, 3, tid, 7}}, Record{{.type = 3}, {0, tid, 8}}));
}

TEST(Ring, InOverwriteModeLosesNothing) {
    TestRing ring{{.pages = 1, .overwrite = true}};
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(ring.write(16, i).written);
    EXPECT_EQ(ring.header().data_head, 16'000u);
    EXPECT_EQ(ring.at(16'000 - 16), (Record{{.type = 3}, {999}}));
    EXPECT_EQ(ring.event.lost, 0u);
}

TEST(Ring, BackwardHasAFallingHeadAtTheNewestRecord) {
    TestRing ring{{.pages = 1, .overwrite = true, .backward = true}};
    ring.write(16, 1);
    ring.write(24, 2);
    EXPECT_EQ(ring.header().data_head, static_cast<std::uint64_t>(-40));
    EXPECT_EQ(ring.at(ring.header().data_head), (Record{{.type = 3}, {2, 3}}));
    EXPECT_EQ(ring.at(ring.header().data_head + 24), (Record{{.type = 3}, {1}}));
}

TEST(Ring, BackwardAndWritableFillsUpToo) {
    TestRing ring{{.pages = 1, .backward = true}};
    int written = 0;
    while (ring.write(16).written) ++written;
    EXPECT_EQ(written, 255);
}

TEST(Ring, PausedDropsAndCountsRecords) {
    TestRing ring;
    ring.page().paused = 1;
    EXPECT_FALSE(ring.write(16).written);
    EXPECT_FALSE(ring.write(16).written);
    EXPECT_EQ(ring.event.lost, 2u);
    ring.page().paused = 0;
    ASSERT_TRUE(ring.write(16).written);
    EXPECT_THAT(ring.drain(), ElementsAre(Record{{.type = kLostType}, {7, 2}}, Record{{.type = 3}, {0}}));
}

TEST(Ring, RecordsThatMeetALockedRingAreCountedApart) {
    TestRing ring;
    drop_locked_out(ring.ring(), ring.event);
    EXPECT_EQ(ring.event.lost, 1u);
    EXPECT_EQ(ring.page().locked_out, 1u);
    ASSERT_TRUE(ring.write(16).written);
    EXPECT_THAT(ring.drain(), ElementsAre(Record{{.type = 3}, {0}}));  // no LOST record
}

TEST(Ring, CountsLossForTheWritingEventEvenInAnothersRing) {
    TestRing ring;
    while (ring.write(16).written) continue;
    EventPage other;
    other.id = 9;
    EXPECT_FALSE(write_record(ring.ring(), other, ring.moment, {.type = 3}, {}).written);
    EXPECT_EQ(other.lost, 1u);
    EXPECT_EQ(ring.event.lost, 1u);
}

TEST(Ring, StaysWithinItsMemoryWhateverAReaderWritesIntoTail) {
    for (const std::uint64_t tail : {~0ull, 1ull << 63, 12'345ull, 4095ull, 4097ull}) {
        TestRing ring;
        for (int i = 0; i < 600; ++i) {
            ring.header().data_tail = tail + static_cast<std::uint64_t>(i) * 7;
            ring.write(48, 0);
        }
        SUCCEED();  // a write outside the ring is for the sanitizers to find
    }
}

TEST(Ring, LosesARecordLongerThanItselfOrThan64KiB) {
    TestRing ring{{.pages = 32}};
    EXPECT_FALSE(ring.write(65'536).written);
    EXPECT_TRUE(ring.write(65'528).written);
    TestRing small;
    EXPECT_FALSE(small.write(4096).written);
    EXPECT_EQ(small.event.lost, 1u);
}

TEST(Ring, HidesARecordUntilItIsCommitted) {
    TestRing ring;
    ring.write(16, 1);
    RingWriter writer{ring.ring(), ring.event, ring.moment};
    ASSERT_TRUE(writer.begin(16));
    writer.sink().word(0xdead);
    EXPECT_THAT(ring.drain(), SizeIs(1));
    ring.write(16, 2);
    EXPECT_THAT(ring.drain(), ElementsAre(Record{{.type = 3}, {2}}));
}

}  // namespace
}  // namespace anyperf::subsystem
