// inherit_test.cpp: inherit, inherit_thread and inherited sigtrap: what children count for their parent's event, as
// measured on Linux 6.18.
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kInherit = flag("inherit");

class Inherit : public SubsystemTest {};

TEST_F(Inherit, SumsTheParentAndItsLivingAndExitedChildren) {
    const auto event = open(with_format(counting(0, kInherit), kTimes));
    me.run(10, 1);
    FakeTask& child = fork(me, 200);
    child.run(10, 20);
    FakeTask& grandchild = fork(child, 300);
    grandchild.run(10, 300);
    EXPECT_THAT(read(event), ElementsAre(321, 30, 30));
    exit(child);
    EXPECT_THAT(read(event), ElementsAre(321, 30, 30));
    grandchild.run(10, 4000);
    exit(grandchild);
    EXPECT_THAT(read(event), ElementsAre(4321, 40, 40)) << "times are summed, too";
}
TEST_F(Inherit, IsNeededToCountChildren) {
    const auto event = open(counting());
    fork(me, 200).run(1, 10);
    EXPECT_EQ(count(event), 0);
    EXPECT_EQ(subsystem.events(), 1);
}
TEST_F(Inherit, ExcludesChildrenThatExistAtTheOpen) {
    FakeTask& child = fork(me, 200);
    const auto event = open(counting(0, kInherit));
    child.run(1, 10);
    EXPECT_EQ(count(event), 0);
}
TEST_F(Inherit, StartsAChildAtItsCurrentCounter) {
    const auto event = open(counting(0, kInherit));
    FakeTask& child = host.start(200);
    child.run(5, 1000);
    subsystem.task_forked(me.name, child.name, ForkKind::process);
    EXPECT_EQ(count(event), 0);
}
TEST_F(Inherit, AppliesEnableAndDisableToLivingChildren) {
    const auto event = open(counting(0, kInherit | kDisabled));
    FakeTask& child = fork(me, 200);
    child.run(1, 10);
    EXPECT_EQ(count(event), 0) << "a child's event starts in the state of its parent's";
    enable(event);
    child.run(1, 10);
    disable(event);
    child.run(1, 10);
    EXPECT_EQ(count(event), 10);
}
TEST_F(Inherit, KeepsTheCountsOfExitedChildrenOnReset) {
    const auto event = open(counting(0, kInherit));
    FakeTask& first = fork(me, 200);
    FakeTask& second = fork(me, 201);
    first.run(1, 10);
    second.run(1, 100);
    exit(first);
    reset(event);
    EXPECT_EQ(count(event), 10);
}
TEST_F(Inherit, SumsEachMemberOfAGroup) {
    const auto leader = open(with_format(counting(0, kInherit), kGroup));
    open_sibling(counting(1, kInherit), leader);
    me.run(1, 1);
    me.counters[1] += 2;
    FakeTask& child = fork(me, 200);
    child.run(1, 10);
    child.counters[1] += 20;
    EXPECT_THAT(read(leader), ElementsAre(2, 11, 22));
    exit(child);
    EXPECT_THAT(read(leader), ElementsAre(2, 11, 22));
}
TEST_F(Inherit, KeepsAChildsSiblingsOffUntilTheirLeaderIsEnabled) {
    const auto leader = open(counting(0, kInherit | kDisabled));
    const auto sibling = open_sibling(counting(1, kInherit), leader);
    FakeTask& child = fork(me, 200);
    child.counters[1] += 5;
    EXPECT_EQ(count(sibling), 0);
    enable(leader);
    child.counters[1] += 5;
    EXPECT_EQ(count(sibling), 5);
}
TEST_F(Inherit, WithInheritThreadCountsThreadsAndNotProcesses) {
    const auto event = open(counting(0, kInherit | flag("inherit_thread")));
    fork(me, 101, ForkKind::thread).run(1, 10);
    fork(me, 200).run(1, 100);
    EXPECT_EQ(count(event), 10);
}
TEST_F(Inherit, SkipsSigtrapEventsIfTheChildClearsSignals) {
    const auto event = open(counting(0, kInherit | flag("sigtrap") | flag("remove_on_exec")));
    fork(me, 200, ForkKind::clears_signals).run(1, 10);
    fork(me, 201).run(1, 100);
    EXPECT_EQ(count(event), 100);
}
TEST_F(Inherit, EndsTheChildrensEventsWhenTheParentsIsClosed) {
    const auto event = open(counting(0, kInherit));
    FakeTask& child = fork(me, 200);
    subsystem.close(event);
    EXPECT_EQ(subsystem.events(), 0);
    EXPECT_TRUE(cpu.held.empty());
    fork(child, 300);
    EXPECT_EQ(subsystem.events(), 0);
}
TEST_F(Inherit, KeepsTheChildrensEventsAfterTheParentsExit) {
    const auto child_of = host.start(150).name;
    const auto event = open(counting(0, kInherit), {.pid = 150});
    FakeTask& parent = host.threads.at(child_of.thread_page);
    FakeTask& child = fork(parent, 200);
    exit(parent);
    child.run(1, 10);
    EXPECT_EQ(count(event), 10);
    EXPECT_FALSE(host.poll_changes.contains(event)) << "poll hangs up only after the last child has exited";
    exit(child);
    EXPECT_TRUE(host.poll_changes.contains(event));
    EXPECT_TRUE(subsystem.poll(event).hang_up);
}
TEST_F(Inherit, GivesAChildItsParentsIdAndItsOwnStreamId) {
    const auto event = open(counting(0, kInherit));
    FakeTask& child = fork(me, 200);
    const auto own = page(event + 1);
    EXPECT_EQ(own.thread_page, child.name.thread_page);
    EXPECT_EQ(own.id, page(event).id);
    EXPECT_EQ(own.stream_id, page(event).id + 1);
    EXPECT_EQ(page(event).has_children, 1);
}
TEST_F(Inherit, NotifiesTheOwnerOfTheParentsEvent) {
    const auto event = open(counting(0, kInherit));
    fork(me, 200);
    subsystem.notify(event, {.owner = 7, .on = 1});
    fork(me, 201);
    EXPECT_EQ(page(event + 1).notify.owner, 7);
    EXPECT_EQ(page(event + 2).notify.owner, 7);
}
TEST_F(Inherit, StartsAChildWithTheCurrentPeriodOfAFrequency) {
    const auto event = open(with_period(counting(0, kInherit | flag("freq")), 4000));
    page(event).period = 123'456;
    fork(me, 200);
    EXPECT_EQ(page(event + 1).period, 123'456);
    EXPECT_EQ(page(event + 1).period_left, 123'456);
}
TEST_F(Inherit, SkipsAChildWithoutRoomForItsEvents) {
    const auto event = open(counting(0, kInherit));
    host.room_for_events = 1;
    FakeTask& child = fork(me, 200);
    child.run(1, 10);
    EXPECT_EQ(count(event), 0);
    exit(child);
}

}  // namespace
}  // namespace anyperf::subsystem
