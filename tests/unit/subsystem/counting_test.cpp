// counting_test.cpp: what events on tasks count, what their times are, and in which formats they are read.
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kId = read_format("PERF_FORMAT_ID");
constexpr auto kLost = read_format("PERF_FORMAT_LOST");

class Counting : public SubsystemTest {};

TEST_F(Counting, StartsAtTheOpen) {
    me.run(0, 1000);
    const auto event = open(counting());
    EXPECT_EQ(count(event), 0);
    me.run(10, 500);
    EXPECT_EQ(count(event), 500);
    EXPECT_EQ(count(event), 500) << "a read changes nothing";
}

TEST_F(Counting, OfADisabledEventHappensBetweenEnableAndDisable) {
    const auto event = open(with_format(counting(0, kDisabled), kTimes));
    me.run(10, 5);
    EXPECT_THAT(read(event), ElementsAre(0, 0, 0)) << "it was never enabled";
    enable(event);
    me.run(100, 50);
    disable(event);
    me.run(7, 3);
    EXPECT_THAT(read(event), ElementsAre(50, 100, 100));
}

TEST_F(Counting, EnableAndDisableAreIdempotent) {
    const auto event = open(counting(0, kDisabled));
    enable(event);
    me.run(1, 10);
    enable(event);
    me.run(1, 10);
    disable(event);
    me.run(1, 10);
    disable(event);
    EXPECT_EQ(count(event), 20);
}

TEST_F(Counting, ResetZeroesTheCountAndNotTheTimes) {
    const auto event = open(with_format(counting(), kTimes));
    me.run(10, 100);
    reset(event);
    EXPECT_THAT(read(event), ElementsAre(0, 10, 10));
    me.run(10, 5);
    EXPECT_THAT(read(event), ElementsAre(5, 20, 20));
}

TEST_F(Counting, TimesDoNotGrowWhileTheTaskSleeps) {
    const auto event = open(with_format(counting(), kTimes));
    host.time_ns += 1'000'000;
    EXPECT_THAT(read(event), ElementsAre(0, 0, 0));
}

TEST_F(Counting, ReadFormatBitsAddTheirFieldsInOrder) {
    const auto first = open(with_format(counting(), kTimes | kId | kLost));
    me.run(20, 10);
    page(first).lost = 3;
    EXPECT_THAT(read(first), ElementsAre(10, 20, 20, page(first).id, 3));
    const auto second = open(with_format(counting(), kId));
    EXPECT_THAT(read(second), ElementsAre(0, page(first).id + 1)) << "each open takes the next id";
}

TEST_F(Counting, GroupReadHasTheLeaderThenSiblingsInOrderOfCreation) {
    const auto leader = open(with_format(counting(0), kGroup | kTimes));
    const auto second = open_sibling(counting(1), leader);
    const auto third = open_sibling(with_format(software(FakeSoftwarePmu::kFaults), kGroup), leader);
    me.run(9, 1);
    me.counters[1] += 22;
    me.kinds[Source::Kind::page_faults] += 333;
    EXPECT_THAT(read(leader), ElementsAre(3, 9, 9, 1, 22, 333));
    EXPECT_THAT(read(second), ElementsAre(22)) << "the read_format of the event that is read applies";
    EXPECT_THAT(read(third), ElementsAre(3, 1, 22, 333)) << "a sibling with GROUP reads the whole group";
}

TEST_F(Counting, ReadIntoAShortBufferIsEnospc) {
    const auto event = open(with_format(counting(), kTimes));
    EXPECT_THAT(subsystem.read(event, 23), RefusedWith(ENOSPC));
    EXPECT_THAT(subsystem.read(event, 0), RefusedWith(ENOSPC));
    EXPECT_THAT(subsystem.read(event, 24), Succeeds());
}

TEST_F(Counting, OfASiblingStartsWithItsLeader) {
    const auto leader = open(counting(0, kDisabled));
    const auto sibling = open_sibling(with_format(counting(1), kTimes), leader);
    me.counters[1] += 10;
    me.run(5, 0);
    EXPECT_THAT(read(sibling), ElementsAre(0, 0, 0)) << "enabled, but its leader is disabled";
    enable(leader);
    me.counters[1] += 10;
    me.run(5, 0);
    disable(leader);
    me.counters[1] += 10;
    me.run(5, 0);
    EXPECT_THAT(read(sibling), ElementsAre(10, 5, 5));
}

TEST_F(Counting, EnableWithoutTheGroupFlagEnablesOnlyTheLeader) {
    const auto leader = open(counting(0, kDisabled));
    const auto sibling = open_sibling(counting(1, kDisabled), leader);
    enable(leader);
    me.counters[1] += 10;
    EXPECT_EQ(count(sibling), 0);
    enable(leader, 1);
    me.counters[1] += 10;
    EXPECT_EQ(count(sibling), 10);
}

TEST_F(Counting, GroupFlagActsOnTheWholeGroupFromAnyMember) {
    const auto leader = open(counting(0, kDisabled));
    const auto sibling = open_sibling(counting(1, kDisabled), leader);
    enable(sibling, 1);
    me.run(1, 10);
    me.counters[1] += 20;
    EXPECT_EQ(count(leader), 10);
    EXPECT_EQ(count(sibling), 20);
    reset(sibling, 1);
    EXPECT_EQ(count(leader), 0);
    disable(sibling, 1);
    me.run(1, 10);
    EXPECT_EQ(count(leader), 0);
}

TEST_F(Counting, OtherBitsOfTheEnableArgumentAreIgnored) {
    const auto leader = open(counting(0, kDisabled));
    const auto sibling = open_sibling(counting(1, kDisabled), leader);
    enable(leader, 0xfffe);
    me.run(1, 10);
    me.counters[1] += 20;
    EXPECT_EQ(count(leader), 10);
    EXPECT_EQ(count(sibling), 0);
}

TEST_F(Counting, OfASoftwareEventIsDoneOnItsOwnPage) {
    const auto event = open(software(FakeSoftwarePmu::kCountedByThread));
    page(event).count += 3;
    EXPECT_EQ(count(event), 3);
    disable(event);
    EXPECT_EQ(count(event), 3);
}

TEST_F(Counting, DummyEventsCountNothing) {
    const auto event = open(software(FakeSoftwarePmu::kDummy));
    me.run(100, 100);
    EXPECT_EQ(count(event), 0);
}

TEST_F(Counting, IocIdReturnsTheEventsOwnId) {
    const auto event = open(counting());
    const auto answer = ioctl(event, "PERF_EVENT_IOC_ID");
    ASSERT_THAT(answer, Succeeds());
    std::uint64_t id = 0;
    std::memcpy(&id, answer->written.data(), sizeof id);
    EXPECT_EQ(id, page(event).id);
    EXPECT_GT(id, 0);
}

TEST_F(Counting, UnknownIoctlIsEnotty) {
    const auto event = open(counting());
    EXPECT_THAT(subsystem.ioctl(me.name, event, 0x2499, {}), RefusedWith(ENOTTY));
    EXPECT_THAT(subsystem.ioctl(me.name, event, 0x2404, {}), RefusedWith(ENOTTY)) << "PERIOD without its size";
}

TEST_F(Counting, CloseFreesEverything) {
    const auto leader = open(counting());
    const auto sibling = open_sibling(counting(), leader);
    subsystem.close(sibling);
    subsystem.close(leader);
    EXPECT_EQ(host.pages(), 0);
    EXPECT_EQ(subsystem.events(), 0);
    EXPECT_TRUE(cpu.held.empty());
    EXPECT_TRUE(cpu.on.empty());
}

}  // namespace
}  // namespace anyperf::subsystem
