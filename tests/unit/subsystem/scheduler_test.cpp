// scheduler_test.cpp: which events get the few counters of a PMU, which wait, and which fail (perf_event_open(2),
// "pinned", "exclusive"; ctx_sched_in in kernel/events/core.c).
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

constexpr std::uint64_t kSlice = 4'000'000;

class Scheduler : public SubsystemTest {
  protected:
    void SetUp() override {
        host.limits_now.paranoid = 0;
        cpu.counters = 0b11;
    }
    EventIndex timed(std::uint64_t flags = 0) { return open(with_format(counting(0, flags), kTimes)); }
    /// Runs for so many slices of 4 ms, counts 100 in each, and ticks after it.
    void slices(int number) {
        for (int i = 0; i < number; ++i) {
            me.run(kSlice, 100);
            subsystem.tick();
        }
    }
};

TEST_F(Scheduler, LetsAnEventThatDoesNotFitWait) {
    const auto first = timed();
    const auto second = timed();
    const auto third = timed();
    me.run(10, 5);
    EXPECT_THAT(read(first), ElementsAre(5, 10, 10));
    EXPECT_THAT(read(second), ElementsAre(5, 10, 10));
    EXPECT_THAT(read(third), ElementsAre(0, 10, 0));
}
TEST_F(Scheduler, RotatesToGiveEachEventItsShare) {
    const std::array events{timed(), timed(), timed()};
    slices(6);
    for (const EventIndex event : events) EXPECT_THAT(read(event), ElementsAre(400, 6 * kSlice, 4 * kSlice));
}
TEST_F(Scheduler, DoesNotRotateBeforeTheIntervalEnds) {
    timed();
    timed();
    const auto third = timed();
    me.run(kSlice - 1, 1);
    subsystem.tick();
    me.run(10, 5);
    EXPECT_EQ(count(third), 0);
}
TEST_F(Scheduler, DoesNotRotateIfEverythingFits) {
    const auto first = timed();
    timed();
    slices(3);
    EXPECT_THAT(read(first), ElementsAre(300, 3 * kSlice, 3 * kSlice));
}
TEST_F(Scheduler, ReusesAFreedCounterAtOnce) {
    const auto first = timed();
    timed();
    const auto third = timed();
    subsystem.close(first);
    me.run(10, 5);
    EXPECT_EQ(count(third), 5);
    const auto fourth = timed();
    disable(third);
    me.run(10, 5);
    EXPECT_EQ(count(fourth), 5);
}
TEST_F(Scheduler, LooksAtFewGroupsWhereManyWait) {
    // The subsystem asks for the cgroup of each group that it looks at.
    constexpr std::uint64_t kCgroup = 2;
    constexpr std::size_t kEvents = 2000;
    constexpr std::size_t kLooksEach = 10;
    host.caller.perfmon = true;
    me.cgroup = kCgroup;
    std::vector<EventIndex> events;
    for (std::size_t i = 0; i < kEvents; ++i) {
        const Attr attr = counting(0, i % 3 == 0 ? kDisabled : 0);
        const auto event = subsystem.open({.caller = me.name,
                                           .attr = std::as_bytes(std::span(&attr, 1)),
                                           .pid = 3,
                                           .cpu = 0,
                                           .flags = abi::bit(abi::kOpenFlags, "PERF_FLAG_PID_CGROUP"),
                                           .cgroup = kCgroup});
        ASSERT_THAT(event, Succeeds());
        events.push_back(*event);
    }
    EXPECT_LT(std::exchange(host.cgroup_looks, 0), kEvents * kLooksEach) << "of the opens";
    for (int i = 0; i < 100; ++i) slices(1);
    EXPECT_LT(std::exchange(host.cgroup_looks, 0), 100 * kLooksEach) << "of the rotations";
    for (const EventIndex event : events) subsystem.close(event);
    EXPECT_LT(host.cgroup_looks, kEvents * kLooksEach) << "of the closes";
}
TEST_F(Scheduler, PlacesAGroupAsAWhole) {
    const auto single = timed();
    const auto leader = timed();
    const auto sibling = open_sibling(with_format(counting(), kTimes), leader);
    me.run(10, 5);
    EXPECT_THAT(read(single), ElementsAre(5, 10, 10));
    EXPECT_THAT(read(leader), ElementsAre(0, 10, 0));
    EXPECT_THAT(read(sibling), ElementsAre(0, 10, 0));
    slices(2);
    EXPECT_EQ(count(leader), count(sibling));
    EXPECT_GT(count(leader), 0);
}
TEST_F(Scheduler, UsesNoCounterForADisabledSibling) {
    const auto single = timed();
    const auto leader = timed();
    const auto sibling = open_sibling(counting(0, kDisabled), leader);
    me.run(10, 5);
    EXPECT_EQ(count(single), 5);
    EXPECT_EQ(count(leader), 5);
    enable(sibling);
    me.run(10, 5);
    EXPECT_EQ(count(leader), 5) << "the group now needs both";
}
TEST_F(Scheduler, AlwaysPlacesSoftwareEvents) {
    timed();
    timed();
    timed();
    const auto faults = open(software(FakeSoftwarePmu::kFaults));
    me.kinds[Source::Kind::page_faults] += 4;
    EXPECT_EQ(count(faults), 4);
}
TEST_F(Scheduler, LetsAMixedGroupWaitForItsHardwareEvent) {
    timed();
    timed();
    const auto leader = open(software(FakeSoftwarePmu::kFaults));
    me.kinds[Source::Kind::page_faults] += 1;
    const auto sibling = open_sibling(counting(), leader);
    me.kinds[Source::Kind::page_faults] += 10;
    EXPECT_EQ(count(leader), 1);
    EXPECT_EQ(count(sibling), 0);
}
TEST_F(Scheduler, TakesCountersFromFlexibleEventsForPinnedOnes) {
    timed();
    const auto second = timed();
    const auto pinned = timed(flag("pinned"));
    me.run(10, 5);
    EXPECT_THAT(read(pinned), ElementsAre(5, 10, 10));
    EXPECT_THAT(read(second), ElementsAre(0, 10, 0));
    slices(4);
    EXPECT_THAT(read(pinned), ElementsAre(405, 10 + 4 * kSlice, 10 + 4 * kSlice));
}
TEST_F(Scheduler, PutsAPinnedEventThatDoesNotFitInError) {
    timed(flag("pinned"));
    const auto second = timed(flag("pinned"));
    const auto third = timed(flag("pinned"));
    me.run(10, 5);
    EXPECT_TRUE(read(third).empty()) << "end of file";
    subsystem.close(second);
    EXPECT_TRUE(read(third).empty()) << "it stays in error";
    enable(third);
    me.run(10, 5);
    EXPECT_EQ(count(third), 5);
}
TEST_F(Scheduler, ClearsTheErrorOnDisable) {
    timed(flag("pinned"));
    timed(flag("pinned"));
    const auto third = timed(flag("pinned"));
    EXPECT_TRUE(read(third).empty());
    disable(third);
    EXPECT_FALSE(read(third).empty());
}
TEST_F(Scheduler, LetsAPinnedEventOfAnotherCpuWait) {
    timed(flag("pinned"));
    timed(flag("pinned"));
    const auto elsewhere = open(counting(0, flag("pinned")), {.cpu = 1});
    EXPECT_EQ(read(elsewhere).size(), 1);
    move(me, 1);
    EXPECT_TRUE(read(elsewhere).empty());
}
TEST_F(Scheduler, RunsAnExclusiveGroupAloneOnItsPmu) {
    const auto other = timed();
    const auto exclusive = timed(flag("exclusive"));
    const auto faults = open(software(FakeSoftwarePmu::kFaults));
    me.run(10, 5);
    me.kinds[Source::Kind::page_faults] += 1;
    EXPECT_THAT(read(other), ElementsAre(5, 10, 10));
    EXPECT_THAT(read(exclusive), ElementsAre(0, 10, 0));
    EXPECT_EQ(count(faults), 1);
    slices(2);
    EXPECT_THAT(read(other), ElementsAre(105, 10 + 2 * kSlice, 10 + kSlice));
    EXPECT_THAT(read(exclusive), ElementsAre(100, 10 + 2 * kSlice, kSlice));
}
TEST_F(Scheduler, RunsAnExclusiveEventAloneEvenWithUnlimitedCounters) {
    cpu.counters = 0;
    timed();
    const auto exclusive = timed(flag("exclusive"));
    me.run(10, 5);
    EXPECT_THAT(read(exclusive), ElementsAre(0, 10, 0));
}
TEST_F(Scheduler, ResumesOtherGroupsAfterTheExclusiveOneIsClosed) {
    cpu.counters = 0;
    const auto exclusive = timed(flag("exclusive"));
    const auto other = timed();
    me.run(10, 5);
    EXPECT_EQ(count(other), 0);
    subsystem.close(exclusive);
    me.run(10, 5);
    EXPECT_EQ(count(other), 5);
    EXPECT_FALSE(subsystem.needs_tick());
}
TEST_F(Scheduler, PlacesCpuWideEventsBeforeATasksOwn) {
    const auto mine = timed();
    open(counting(), {.pid = -1, .cpu = 0});
    const auto wide = open(with_format(counting(), kTimes), {.pid = -1, .cpu = 0});
    me.run(10, 5);
    host.time_ns += 10;
    EXPECT_THAT(read(wide), ElementsAre(5, 10, 10));
    EXPECT_THAT(read(mine), ElementsAre(0, 10, 0));
}
TEST_F(Scheduler, StopsTimeRunningOfACpuWideEventWithoutACounter) {
    for (int i = 0; i < 2; ++i) open(counting(0, flag("pinned")), {.pid = -1, .cpu = 0});
    const auto wide = open(with_format(counting(), kTimes), {.pid = -1, .cpu = 0});
    me.run(10, 5);
    host.time_ns += 100;
    EXPECT_THAT(read(wide), ElementsAre(0, 100, 90)) << "without the 10 ns in which it was not counted";
}
TEST_F(Scheduler, GivesEveryTaskAllCounters) {
    timed();
    timed();
    FakeTask& other = host.start(200);
    const auto on_other = open(counting(), {.pid = 200});
    other.run(1, 10);
    EXPECT_EQ(count(on_other), 10);
}
TEST_F(Scheduler, NotifiesThePmuOfTheEventsThatRun) {
    const auto first = timed();
    timed();
    const auto third = timed();
    EXPECT_TRUE(cpu.on.contains(first));
    EXPECT_FALSE(cpu.on.contains(third));
    slices(1);
    EXPECT_FALSE(cpu.on.contains(first));
    EXPECT_TRUE(cpu.on.contains(third));
}

}  // namespace
}  // namespace anyperf::subsystem
