// task_life_test.cpp: what exec, exit, prctl and reused thread pages do to events, as measured on Linux 6.18.
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kGroup = read_format("PERF_FORMAT_GROUP");

class TaskLife : public SubsystemTest {
  protected:
    void exec(FakeTask& task) { subsystem.task_exec(task.name, task.name); }
};

TEST_F(TaskLife, EnableOnExecEnablesOnce) {
    const auto event = open(counting(0, kDisabled | flag("enable_on_exec")));
    me.run(1, 10);
    EXPECT_EQ(count(event), 0);
    exec(me);
    me.run(1, 10);
    EXPECT_EQ(count(event), 10);
    disable(event);
    exec(me);
    me.run(1, 10);
    EXPECT_EQ(count(event), 10) << "the flag is used up";
}
TEST_F(TaskLife, DisableDoesNotCancelEnableOnExec) {
    const auto event = open(counting(0, flag("enable_on_exec")));
    disable(event);
    exec(me);
    me.run(1, 10);
    EXPECT_EQ(count(event), 10);
}
TEST_F(TaskLife, EnableOnExecOfALeaderStartsItsEnabledSiblings) {
    const auto leader = open(counting(0, kDisabled | flag("enable_on_exec")));
    const auto with = open_sibling(counting(1), leader);
    const auto without = open_sibling(counting(1, kDisabled), leader);
    exec(me);
    me.counters[1] += 5;
    EXPECT_EQ(count(with), 5);
    EXPECT_EQ(count(without), 0);
}
TEST_F(TaskLife, EnableOnExecOfAnInheritedEventNeedsTheExecOfItsOwnTask) {
    const auto event = open(counting(0, kDisabled | flag("inherit") | flag("enable_on_exec")));
    FakeTask& child = fork(me, 200);
    exec(child);
    child.run(1, 10);
    me.run(1, 100);
    EXPECT_EQ(count(event), 10);
}
TEST_F(TaskLife, RemoveOnExecDetachesTheEventFromItsTask) {
    const auto event = open(with_format(counting(0, flag("remove_on_exec")), kTimes));
    me.run(5, 10);
    exec(me);
    me.run(5, 10);
    EXPECT_THAT(read(event), ElementsAre(10, 5, 5));
    EXPECT_TRUE(subsystem.poll(event).hang_up);
    enable(event);
    me.run(5, 10);
    EXPECT_EQ(count(event), 10);
}
TEST_F(TaskLife, RemoveOnExecKeepsTheCountOfAnInheritedChild) {
    const auto event = open(counting(0, flag("inherit") | flag("remove_on_exec")));
    FakeTask& child = fork(me, 200);
    child.run(1, 10);
    exec(child);
    child.run(1, 100);
    me.run(1, 1000);
    EXPECT_EQ(count(event), 1010);
}
TEST_F(TaskLife, CountingContinuesThroughExecWithoutEitherFlag) {
    const auto event = open(counting());
    me.run(1, 10);
    exec(me);
    me.run(1, 10);
    EXPECT_EQ(count(event), 20);
}
TEST_F(TaskLife, ThreadThatExecsTakesTheIdOfTheProcess) {
    FakeTask& thread = fork(me, 101, ForkKind::thread);
    const auto event = open(counting(), {.pid = 101});
    const TaskId was = thread.name;
    exit(me);
    thread.name.tid = 100;
    subsystem.task_exec(was, thread.name);
    thread.run(1, 10);
    EXPECT_EQ(count(event), 10);
    exit(thread);
    EXPECT_TRUE(subsystem.poll(event).hang_up);
}
TEST_F(TaskLife, CountAndTimesAreFrozenAfterExit) {
    FakeTask& child = host.start(200);
    const auto event = open(with_format(counting(), kTimes), {.pid = 200});
    child.run(5, 10);
    exit(child);
    child.run(5, 10);
    EXPECT_THAT(read(event), ElementsAre(10, 5, 5));
    enable(event);
    disable(event);
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_ID"), Succeeds());
    reset(event);
    EXPECT_THAT(read(event), ElementsAre(0, 5, 5)) << "RESET zeroes the count";
}
TEST_F(TaskLife, GroupCanStillBeReadAfterExit) {
    FakeTask& child = host.start(200);
    const auto leader = open(with_format(counting(), kGroup), {.pid = 200});
    open(counting(1), {.pid = 200, .group = leader});
    child.run(5, 10);
    child.counters[1] += 3;
    exit(child);
    EXPECT_THAT(read(leader), ElementsAre(2, 10, 3));
    subsystem.close(leader);
    EXPECT_EQ(subsystem.events(), 1);
}
TEST_F(TaskLife, ExitOfTheOpenerEndsNothing) {
    FakeTask& other = host.start(200);
    const auto event = open_as(other, counting(), 100);
    exit(other);
    me.run(1, 10);
    EXPECT_EQ(count(event), 10);
}
TEST_F(TaskLife, ReusedThreadPageBelongsToAnotherTask) {
    FakeTask& child = host.start(200);
    const auto event = open(counting(), {.pid = 200});
    child.run(1, 10);
    child.name.pid = child.name.tid = 201;
    const auto next = open(counting(), {.pid = 201});
    child.run(1, 10);
    EXPECT_EQ(count(event), 10);
    EXPECT_EQ(count(next), 10);
}
TEST_F(TaskLife, PrctlActsOnTheEventsThatTheThreadOpened) {
    FakeTask& other = fork(me, 101, ForkKind::thread);
    const auto mine = open(counting());
    const auto sibling = open_sibling(counting(1), mine);
    const auto on_other = open(counting(), {.pid = 101});
    const auto others = open_as(other, counting(), 100);
    subsystem.prctl(me.name, false);
    me.run(1, 10);
    me.counters[1] += 10;
    other.run(1, 10);
    EXPECT_EQ(count(mine), 0);
    EXPECT_EQ(count(sibling), 0);
    EXPECT_EQ(count(on_other), 0) << "also the events on other tasks";
    EXPECT_EQ(count(others), 10) << "not the events that others opened on it";
    subsystem.prctl(me.name, true);
    me.run(1, 10);
    EXPECT_EQ(count(mine), 10);
}

}  // namespace
}  // namespace anyperf::subsystem
