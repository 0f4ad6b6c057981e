// When pollers are woken: wakeup_events and wakeup_watermark as Linux 6.18 counts them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/subsystem/shared/a_ring.h"

namespace anyperf::subsystem {
namespace {

using testing::ARing;
using ::testing::ElementsAre;

/// Numbers, from 1, of the records of 16 bytes that woke.
std::vector<int> wakes(ARing& ring, int records, bool samples = false) {
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

TEST(WakeByWatermark, WhenHeadPassesMoreThanItBeyondTheMarkWhichMovesByIt) {
    for (const Case& row : {Case{32, {3, 5, 7, 9}}, Case{40, {3, 6, 8}}, Case{48, {4, 7}}}) {
        ARing ring{{.pages = 1, .watermark = row.watermark}};
        ring.event.shape.flags = abi::flag("watermark");
        EXPECT_EQ(wakes(ring, 9), row.records) << row.watermark;
    }
}

TEST(WakeByWatermark, OfZeroIsHalfTheRing) {
    ARing ring;
    EXPECT_THAT(wakes(ring, 255), ElementsAre(129));
}

TEST(WakeByWatermark, AboveTheRingIsTheRing) {
    ARing ring{{.pages = 1, .watermark = 1'000'000}};
    EXPECT_EQ(ring.page().watermark, 4096u);
}

TEST(WakeByWatermark, WorksBackwardToo) {
    ARing ring{{.pages = 1, .watermark = 32, .backward = true}};
    EXPECT_THAT(wakes(ring, 9), ElementsAre(3, 5, 7, 9));
}

TEST(WakeBySamples, AtEveryNth) {
    ARing ring;
    ring.event.shape.wakeup = 3;
    EXPECT_THAT(wakes(ring, 10, true), ElementsAre(3, 6, 9));
}

TEST(WakeBySamples, OtherRecordsDoNotCount) {
    ARing ring;
    ring.event.shape.wakeup = 1;
    EXPECT_THAT(wakes(ring, 10, false), ElementsAre());
}

TEST(WakeBySamples, OfAllEventsThatShareTheRing) {
    ARing ring;
    ring.event.shape.wakeup = 2;
    EXPECT_THAT(wakes(ring, 1, true), ElementsAre());
    ring.event.id = 99;
    EXPECT_THAT(wakes(ring, 1, true), ElementsAre(1));
}

TEST(WakeBySamples, OfZeroIsAWatermarkOfHalfTheRing) {
    ARing ring;
    EXPECT_THAT(wakes(ring, 255, true), ElementsAre(129));
}

TEST(Wake, StaysInTheRingsPageUntilSomebodyTakesIt) {
    ARing ring;
    ring.event.shape.wakeup = 1;
    wakes(ring, 1, true);
    EXPECT_EQ(ring.page().wake, 1u);
}

}  // namespace
}  // namespace anyperf::subsystem
