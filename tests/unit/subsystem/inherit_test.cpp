// attr.inherit and its kin: what children count for their parent's event (kernel facts, "Groups, prctl, inherit,
// exec").
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kInherit = flag("inherit");

class Inherit : public SubsystemTest {};

TEST_F(Inherit, TheSumIsOwnAndLivingAndExitedChildren) {
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
    EXPECT_THAT(read(event), ElementsAre(4321, 40, 40)) << "times are summed as well";
}
TEST_F(Inherit, WithoutItChildrenAreNotCounted) {
    const auto event = open(counting());
    fork(me, 200).run(1, 10);
    EXPECT_EQ(count(event), 0);
    EXPECT_EQ(subsystem.events(), 1);
}
TEST_F(Inherit, ChildrenThatAreThereAtTheOpenAreNotCounted) {
    FakeTask& child = fork(me, 200);
    const auto event = open(counting(0, kInherit));
    child.run(1, 10);
    EXPECT_EQ(count(event), 0);
}
TEST_F(Inherit, AChildStartsWithItsCounterAsItIs) {
    const auto event = open(counting(0, kInherit));
    FakeTask& child = host.start(200);
    child.run(5, 1000);
    subsystem.task_forked(me.name, child.name, ForkKind::process);
    EXPECT_EQ(count(event), 0);
}
TEST_F(Inherit, EnableAndDisableActOnLivingChildren) {
    const auto event = open(counting(0, kInherit | kDisabled));
    FakeTask& child = fork(me, 200);
    child.run(1, 10);
    EXPECT_EQ(count(event), 0) << "a child takes over the state of its parent's";
    enable(event);
    child.run(1, 10);
    disable(event);
    child.run(1, 10);
    EXPECT_EQ(count(event), 10);
}
TEST_F(Inherit, ResetLeavesWhatExitedChildrenHaveAdded) {
    const auto event = open(counting(0, kInherit));
    FakeTask& first = fork(me, 200);
    FakeTask& second = fork(me, 201);
    first.run(1, 10);
    second.run(1, 100);
    exit(first);
    reset(event);
    EXPECT_EQ(count(event), 10);
}
TEST_F(Inherit, EachMemberOfAGroupIsSummed) {
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
TEST_F(Inherit, ChildrensSiblingsStandBelowTheirLeader) {
    const auto leader = open(counting(0, kInherit | kDisabled));
    const auto sibling = open_sibling(counting(1, kInherit), leader);
    FakeTask& child = fork(me, 200);
    child.counters[1] += 5;
    EXPECT_EQ(count(sibling), 0);
    enable(leader);
    child.counters[1] += 5;
    EXPECT_EQ(count(sibling), 5);
}
TEST_F(Inherit, InheritThreadTakesThreadsAndNotProcesses) {
    const auto event = open(counting(0, kInherit | flag("inherit_thread")));
    fork(me, 101, ForkKind::thread).run(1, 10);
    fork(me, 200).run(1, 100);
    EXPECT_EQ(count(event), 10);
}
TEST_F(Inherit, SigtrapIsNotInheritedWhereSignalsAreCleared) {
    const auto event = open(counting(0, kInherit | flag("sigtrap") | flag("remove_on_exec")));
    fork(me, 200, ForkKind::clears_signals).run(1, 10);
    fork(me, 201).run(1, 100);
    EXPECT_EQ(count(event), 100);
}
TEST_F(Inherit, ClosingTheParentsEventEndsTheChildrens) {
    const auto event = open(counting(0, kInherit));
    FakeTask& child = fork(me, 200);
    subsystem.close(event);
    EXPECT_EQ(subsystem.events(), 0);
    EXPECT_TRUE(cpu.held.empty());
    fork(child, 300);
    EXPECT_EQ(subsystem.events(), 0);
}
TEST_F(Inherit, TheParentsExitDoesNotEndTheChildrens) {
    const auto child_of = host.start(150).name;
    const auto event = open(counting(0, kInherit), {.pid = 150});
    FakeTask& parent = host.threads.at(child_of.thread_page);
    FakeTask& child = fork(parent, 200);
    exit(parent);
    child.run(1, 10);
    EXPECT_EQ(count(event), 10);
    EXPECT_FALSE(host.told.contains(event)) << "poll says HUP when the last child has exited too";
    exit(child);
    EXPECT_TRUE(host.told.contains(event));
    EXPECT_TRUE(subsystem.poll(event).hang_up);
}
TEST_F(Inherit, AChildHasItsParentsIdAndItsOwnStreamId) {
    const auto event = open(counting(0, kInherit));
    FakeTask& child = fork(me, 200);
    const auto own = page(event + 1);
    EXPECT_EQ(own.thread_page, child.name.thread_page);
    EXPECT_EQ(own.id, page(event).id);
    EXPECT_EQ(own.stream_id, page(event).id + 1);
    EXPECT_EQ(page(event).has_children, 1);
}
TEST_F(Inherit, ChildrenTellTheirParentsOwner) {
    const auto event = open(counting(0, kInherit));
    fork(me, 200);
    subsystem.notify(event, {.owner = 7, .on = 1});
    fork(me, 201);
    EXPECT_EQ(page(event + 1).notify.owner, 7);
    EXPECT_EQ(page(event + 2).notify.owner, 7);
}
TEST_F(Inherit, AChildGoesOnWithThePeriodOfAFrequency) {
    const auto event = open(with_period(counting(0, kInherit | flag("freq")), 4000));
    page(event).period = 123'456;
    fork(me, 200);
    EXPECT_EQ(page(event + 1).period, 123'456);
    EXPECT_EQ(page(event + 1).period_left, 123'456);
}
TEST_F(Inherit, AChildThatFindsNoRoomIsNotCounted) {
    const auto event = open(counting(0, kInherit));
    host.room_for_events = 1;
    FakeTask& child = fork(me, 200);
    child.run(1, 10);
    EXPECT_EQ(count(event), 0);
    exit(child);
}

}  // namespace
}  // namespace anyperf::subsystem
