// group_test.cpp: which events may join a group, and what happens to it when members are closed, as measured on
// Linux 6.18.
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

class Group : public SubsystemTest {
  protected:
    EventIndex leader = open(with_format(counting(), kGroup));

    Answer<EventIndex> join(const Attr& attr, Where where = {}) {
        where.group = leader;
        return try_open(attr, where);
    }
};

TEST_F(Group, SiblingCannotLead) {
    const auto sibling = open_sibling(counting(), leader);
    EXPECT_THAT(try_open(counting(), {.group = sibling}), RefusedWith(EINVAL));
}
TEST_F(Group, MemberOnAnotherTaskIsEinval) {
    host.start(200);
    EXPECT_THAT(join(counting(), {.pid = 200}), RefusedWith(EINVAL));
}
TEST_F(Group, MemberMayNameTheCallersTaskByItsPid) {
    EXPECT_THAT(join(counting(), {.pid = 100}), Succeeds());
}
TEST_F(Group, MemberOnAnotherCpuIsEinval) {
    EXPECT_THAT(join(counting(), {.cpu = 0}), RefusedWith(EINVAL));
    const auto bound = open(counting(), {.cpu = 0});
    EXPECT_THAT(try_open(counting(), {.cpu = 1, .group = bound}), RefusedWith(EINVAL));
    EXPECT_THAT(try_open(counting(), {.group = bound}), RefusedWith(EINVAL));
}
TEST_F(Group, MemberWithAnotherClockIsEinval) {
    Attr attr = counting(0, flag("use_clockid"));
    attr.clockid = 1;
    EXPECT_THAT(join(attr), RefusedWith(EINVAL));
}
TEST_F(Group, MembersMustAgreeOnInherit) {
    EXPECT_THAT(join(counting(0, flag("inherit"))), RefusedWith(EINVAL));
    const auto inherited = open(counting(0, flag("inherit")));
    EXPECT_THAT(try_open(counting(), {.group = inherited}), RefusedWith(EINVAL));
}
TEST_F(Group, OnlyTheLeaderMayBePinnedOrExclusive) {
    EXPECT_THAT(join(counting(0, flag("pinned"))), RefusedWith(EINVAL));
    EXPECT_THAT(join(counting(0, flag("exclusive"))), RefusedWith(EINVAL));
}
TEST_F(Group, NoGroupFlagLeavesTheEventUngrouped) {
    const auto alone =
        join(with_format(counting(), kGroup), {.flags = abi::bit(abi::kOpenFlags, "PERF_FLAG_FD_NO_GROUP")});
    ASSERT_THAT(alone, Succeeds());
    EXPECT_THAT(read(*alone), ElementsAre(1, 0));
}
TEST_F(Group, LeaderWhoseTaskHasExitedIsEnodev) {
    FakeTask& child = host.start(200);
    const auto of_child = open(counting(), {.pid = 200});
    exit(child);
    EXPECT_THAT(try_open(counting(), {.group = of_child}), RefusedWith(ENODEV));
}
TEST_F(Group, IsLimitedToAReadOf16KiB) {
    for (int siblings = 0; siblings < 2046; ++siblings) ASSERT_THAT(join(software(9, kDisabled)), Succeeds());
    const auto one_more = join(software(9, kDisabled));
    ASSERT_THAT(one_more, RefusedWith(E2BIG));
    EXPECT_EQ(one_more.error().attr_size, 0) << "the error is not about attr.size";
}
TEST_F(Group, LargerThanAnEmptyPmuIsEinval) {
    cpu.counters = 0b11;
    const auto first = open(counting());
    const auto second = open_sibling(counting(), first);
    EXPECT_NE(second, 0);
    EXPECT_THAT(try_open(counting(), {.group = first}), RefusedWith(EINVAL));
    EXPECT_THAT(try_open(software(9), {.group = first}), Succeeds());
}

TEST_F(Group, IsLinkedThroughItsEventPages) {
    const auto second = open_sibling(counting(), leader);
    const auto third = open_sibling(counting(), leader);
    EXPECT_EQ(page(leader).group_size, 3);
    EXPECT_EQ(page(leader).leader, leader);
    EXPECT_EQ(page(leader).next_in_group, second);
    EXPECT_EQ(page(second).next_in_group, third);
    EXPECT_EQ(page(third).next_in_group, 0);
    EXPECT_EQ(page(third).leader, leader);
    subsystem.close(second);
    EXPECT_EQ(page(leader).next_in_group, third);
    EXPECT_EQ(page(leader).group_size, 2);
    subsystem.close(leader);
    EXPECT_EQ(page(third).leader, third);
    EXPECT_EQ(page(third).group_size, 1);
}

TEST_F(Group, ClosedSiblingsAreNoLongerRead) {
    const auto sibling = open_sibling(counting(1), leader);
    me.counters[1] += 5;
    EXPECT_THAT(read(leader), ElementsAre(2, 0, 5));
    subsystem.close(sibling);
    EXPECT_THAT(read(leader), ElementsAre(1, 0));
}
TEST_F(Group, SiblingsOfAClosedLeaderBecomeLeaders) {
    const auto sibling = open_sibling(with_format(counting(1), kGroup), leader);
    const auto other = open_sibling(with_format(counting(2), kGroup), leader);
    me.counters[1] += 5;
    subsystem.close(leader);
    me.counters[1] += 5;
    EXPECT_THAT(read(sibling), ElementsAre(1, 10));
    EXPECT_THAT(read(other), ElementsAre(1, 0));
    const auto joined = open_sibling(counting(2), sibling);
    me.counters[2] += 7;
    EXPECT_THAT(read(sibling), ElementsAre(2, 10, 7));
    EXPECT_EQ(count(joined), 7);
}
TEST_F(Group, EnabledSiblingsStartWhenTheirDisabledLeaderIsClosed) {
    const auto off = open(counting(0, kDisabled));
    const auto sibling = open_sibling(counting(1), off);
    const auto disabled = open_sibling(counting(1, kDisabled), off);
    subsystem.close(off);
    me.counters[1] += 9;
    EXPECT_EQ(count(sibling), 9);
    EXPECT_EQ(count(disabled), 0);
}

}  // namespace
}  // namespace anyperf::subsystem
