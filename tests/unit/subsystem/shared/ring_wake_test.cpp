// ring_wake_test.cpp: which records wake pollers, by wakeup_events and wakeup_watermark, as on Linux 6.18.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/subsystem/shared/test_ring.h"

namespace anyperf::subsystem {
namespace {

using ::testing::ElementsAre;
using testing::TestRing;

/// Writes records of 16 bytes. Returns the numbers, from 1, of those that wake pollers.
std::vector<int> wakes(TestRing& ring, int records, bool samples = false) {
    std::vector<int> woke;
    for (int i = 1; i <= records; ++i) {
        RingWriter writer{ring.ring(), ring.event, ring.moment};
        if (!writer.begin(16)) break;
        const RecordHeader header{.type = samples ? 9u : 3u, .size = 16};
        writer.sink().put(&header, sizeof header);
        writer.sink().word(0);
        if (writer.commit(samples).wake) woke.push_back(i);
    }
    return woke;
}

struct Case {
    std::uint64_t watermark;
    std::vector<int> records;
};

TEST(WakeByWatermark, HappensWhenHeadIsMoreThanAWatermarkPastTheMovingMark) {
    for (const Case& row : {Case{32, {3, 5, 7, 9}}, Case{40, {3, 6, 8}}, Case{48, {4, 7}}}) {
        TestRing ring{{.pages = 1, .watermark = row.watermark}};
        ring.event.shape.flags = abi::flag("watermark");
        EXPECT_EQ(wakes(ring, 9), row.records) << row.watermark;
    }
}

TEST(WakeByWatermark, OfZeroIsHalfTheRing) {
    TestRing ring;
    EXPECT_THAT(wakes(ring, 255), ElementsAre(129));
}

TEST(WakeByWatermark, IsLimitedToTheSizeOfTheRing) {
    TestRing ring{{.pages = 1, .watermark = 1'000'000}};
    EXPECT_EQ(ring.page().watermark, 4096u);
}

TEST(WakeByWatermark, WorksInABackwardRingToo) {
    TestRing ring{{.pages = 1, .watermark = 32, .backward = true}};
    EXPECT_THAT(wakes(ring, 9), ElementsAre(3, 5, 7, 9));
}

TEST(WakeBySamples, HappensAtEveryNthSample) {
    TestRing ring;
    ring.event.shape.wakeup = 3;
    EXPECT_THAT(wakes(ring, 10, true), ElementsAre(3, 6, 9));
}

TEST(WakeBySamples, IgnoresOtherRecords) {
    TestRing ring;
    ring.event.shape.wakeup = 1;
    EXPECT_THAT(wakes(ring, 10, false), ElementsAre());
}

TEST(WakeBySamples, CountsSamplesOfAllEventsThatShareTheRing) {
    TestRing ring;
    ring.event.shape.wakeup = 2;
    EXPECT_THAT(wakes(ring, 1, true), ElementsAre());
    ring.event.id = 99;
    EXPECT_THAT(wakes(ring, 1, true), ElementsAre(1));
}

TEST(WakeBySamples, OfZeroIsAWatermarkOfHalfTheRing) {
    TestRing ring;
    EXPECT_THAT(wakes(ring, 255, true), ElementsAre(129));
}

TEST(Wake, StaysInTheRingPageUntilItIsTaken) {
    TestRing ring;
    ring.event.shape.wakeup = 1;
    wakes(ring, 1, true);
    EXPECT_EQ(ring.page().wake_pending, 1u);
}

}  // namespace
}  // namespace anyperf::subsystem
