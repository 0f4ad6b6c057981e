// counts_test.cpp: the layout of READ, LOST_SAMPLES, CGROUP and THROTTLE records.
#include "subsystem/records/counts.h"

#include <gtest/gtest.h>

#include "subsystem/shared/throttle.h"
#include "unit/subsystem/records/parsed_record.h"

namespace anyperf::subsystem {
namespace {

using testing::Parsed;

TEST(ReadRecord, HasPidTidAndTheAnswerOfRead) {
    const MemberValue member{.value = 1000, .id = 7, .lost = 3};
    Parsed record{read_record({100, 101}, 0x17, {.enabled = 50, .running = 40, .members = {&member, 1}})};
    EXPECT_EQ(record.type, 8u);
    EXPECT_EQ(record.half(), 100u);
    EXPECT_EQ(record.half(), 101u);
    for (const std::uint64_t word : {1000, 50, 40, 7, 3}) EXPECT_EQ(record.word(), word);
    record.ends();
}

TEST(LostSamplesRecord, HasTheNumberLost) {
    Parsed record{lost_samples_record(12)};
    EXPECT_EQ(record.type, 13u);
    EXPECT_EQ(record.word(), 12u);
    record.ends();
}

TEST(CgroupRecord, HasInodeAndPath) {
    Parsed record{cgroup_record(99, "/user.slice")};
    EXPECT_EQ(record.type, 19u);
    EXPECT_EQ(record.word(), 99u);
    EXPECT_EQ(record.name(), "/user.slice");
    record.ends();
}

TEST(ThrottleRecords, HaveTimeIdStreamIdIn32Bytes) {
    testing::TestRing ring;
    ASSERT_TRUE(write_throttle(ring.ring(), ring.event, ring.moment).written);
    ASSERT_TRUE(write_unthrottle(ring.ring(), ring.event, ring.moment).written);
    const auto records = ring.drain();
    EXPECT_EQ(records[0], (testing::Record{{.type = 5}, {12, 7, 8}}));
    EXPECT_EQ(records[1], (testing::Record{{.type = 6}, {12, 7, 8}}));
    EXPECT_EQ(records[0].header.size, 32);
}

}  // namespace
}  // namespace anyperf::subsystem
