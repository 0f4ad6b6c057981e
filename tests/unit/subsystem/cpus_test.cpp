// cpus_test.cpp: events of a task on one CPU, and CPU-wide events of all tasks.
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

class Cpus : public SubsystemTest {
  protected:
    void SetUp() override { host.limits_now.paranoid = 0; }
};

TEST_F(Cpus, EventOfATaskOnOneCpuCountsThereOnly) {
    const auto on_0 = open(with_format(counting(), kTimes), {.cpu = 0});
    const auto on_1 = open(with_format(counting(), kTimes), {.cpu = 1});
    me.run(10, 100);
    move(me, 1);
    me.run(10, 23);
    EXPECT_THAT(read(on_0), ElementsAre(100, 20, 10));
    EXPECT_THAT(read(on_1), ElementsAre(23, 20, 10))
        << "time enabled grows on the other CPU too, time running does not";
    move(me, 0);
    me.run(10, 1000);
    EXPECT_THAT(read(on_0), ElementsAre(1100, 30, 20));
}
TEST_F(Cpus, InheritedEventsOfAllCpusAddUpToTheTotal) {
    const auto on_0 = open(counting(0, flag("inherit")), {.cpu = 0});
    const auto on_1 = open(counting(0, flag("inherit")), {.cpu = 1});
    me.run(1, 1);
    move(me, 1);
    FakeTask& child = fork(me, 200);
    child.run(1, 10);
    move(child, 0);
    child.run(1, 100);
    exit(child);
    me.run(1, 1000);
    EXPECT_EQ(count(on_0), 101);
    EXPECT_EQ(count(on_1), 1010);
}
TEST_F(Cpus, CpuWideEventCountsEveryTaskOnItsCpu) {
    FakeTask& other = host.start(200);
    other.cpu = 1;
    const auto on_0 = open(counting(), {.pid = -1, .cpu = 0});
    me.run(1, 1);
    other.run(1, 10);
    EXPECT_EQ(count(on_0), 1);
    move(other, 0);
    other.run(1, 100);
    FakeTask& child = fork(me, 300);
    child.run(1, 1000);
    EXPECT_EQ(count(on_0), 1101);
    exit(child);
    exit(other);
    EXPECT_EQ(count(on_0), 1101);
    disable(on_0);
    me.run(1, 5);
    EXPECT_EQ(count(on_0), 1101);
}
TEST_F(Cpus, CpuWideTimesFollowTheClockNotTheTasks) {
    const auto event = open(with_format(counting(), kTimes), {.pid = -1, .cpu = 0});
    me.run(10, 5);
    host.time_ns += 1000;
    EXPECT_THAT(read(event), ElementsAre(5, 1000, 1000));
}
TEST_F(Cpus, CpuWideTimesIgnoreTasksOnOtherCpus) {
    move(me, 1);
    const auto event = open(with_format(counting(), kTimes), {.pid = -1, .cpu = 0});
    me.run(10, 5);
    host.time_ns += 1000;
    EXPECT_THAT(read(event), ElementsAre(0, 1000, 1000));
}
TEST_F(Cpus, CpuClockCountsTheTimeOfTheCpu) {
    const auto event = open(software(FakeSoftwarePmu::kClock), {.pid = -1, .cpu = 0});
    me.run(10, 5);
    host.time_ns += 1000;
    EXPECT_EQ(count(event), 1000);
}
TEST_F(Cpus, CpuWideGroupIsAGroupInEachTask) {
    const auto leader =
        open(with_format(counting(0, kDisabled), read_format("PERF_FORMAT_GROUP")), {.pid = -1, .cpu = 0});
    open(counting(1), {.pid = -1, .cpu = 0, .group = leader});
    me.counters[1] += 7;
    enable(leader);
    me.run(1, 1);
    me.counters[1] += 7;
    FakeTask& child = fork(me, 200);
    child.counters[1] += 70;
    EXPECT_THAT(read(leader), ElementsAre(2, 1, 77));
    subsystem.close(leader);
    me.counters[1] += 100;
    EXPECT_EQ(subsystem.events(), 3) << "the sibling and its parts in two tasks";
}
TEST_F(Cpus, ClosingACpuWideEventFreesThePartOfEveryTask) {
    const auto event = open(counting(), {.pid = -1, .cpu = 0});
    fork(me, 200);
    EXPECT_EQ(subsystem.events(), 3);
    subsystem.close(event);
    EXPECT_EQ(host.pages(), 0);
}
TEST_F(Cpus, CgroupEventCountsOnlyTasksOfTheCgroup) {
    FakeTask& other = host.start(200);
    other.cgroup = 2;
    const Attr attr = counting();
    const auto event = subsystem.open({.caller = me.name,
                                       .attr = std::as_bytes(std::span(&attr, 1)),
                                       .pid = 5,
                                       .cpu = 0,
                                       .flags = abi::bit(abi::kOpenFlags, "PERF_FLAG_PID_CGROUP"),
                                       .cgroup = 2});
    ASSERT_THAT(event, Succeeds());
    me.run(1, 1);
    other.run(1, 10);
    EXPECT_EQ(count(*event), 10);
}

}  // namespace
}  // namespace anyperf::subsystem
