// group_test.cpp: which calls a group makes to the kernel, and how it uses the answers.
#include "anyperf/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "anyperf/counter.h"
#include "counting/open_event.h"
#include "unit/counting/fake_kernel.h"

namespace anyperf::counting {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const events::EventGroup kThree = group_of({event_named("a"), event_named("b", 1), event_named("c", 2)});

TEST(Group, SiblingsJoinTheLeaderAndOnlyTheLeaderIsDisabled) {
    FakeKernel kernel;
    const auto group = Group::open(kThree, {.pid = 42}, {}, kernel);
    ASSERT_TRUE(group) << group.error().cause;
    ASSERT_EQ(kernel.calls.size(), 3);
    EXPECT_EQ(kernel.calls[0].group_fd, -1);
    EXPECT_EQ(kernel.calls[1].group_fd, group->fd(0));
    EXPECT_EQ(kernel.calls[2].group_fd, group->fd(0));
    EXPECT_TRUE(has_flag(kernel.calls[0].attr, abi::flag("disabled")));
    EXPECT_FALSE(has_flag(kernel.calls[1].attr, abi::flag("disabled")));
    EXPECT_EQ(kernel.calls[1].pid, 42);
}

TEST(Group, LeaderIsEnabledByTheKernelOnExec) {
    FakeKernel kernel;
    const auto group = Group::open(kThree, {}, {.start = Start::on_exec, .inherit = true}, kernel);
    ASSERT_TRUE(group);
    EXPECT_TRUE(has_flag(kernel.calls[0].attr, abi::flag("enable_on_exec")));
    EXPECT_FALSE(has_flag(kernel.calls[1].attr, abi::flag("enable_on_exec")));
    EXPECT_TRUE(has_flag(kernel.calls[1].attr, abi::flag("inherit")));
    EXPECT_THAT(kernel.ioctls, ElementsAre());
}

TEST(Group, StartsOnlyAfterAllMembersAreOpen) {
    FakeKernel kernel;
    const auto group = Group::open(kThree, {}, {.start = Start::enabled}, kernel);
    ASSERT_TRUE(group);
    EXPECT_TRUE(has_flag(kernel.calls[0].attr, abi::flag("disabled")));
    EXPECT_THAT(kernel.ioctls, ElementsAre(std::pair{group->fd(0), 0x2400ul}));
}

TEST(Group, IsReadByOneCall) {
    FakeKernel kernel;
    auto group = Group::open(kThree, {}, {}, kernel);
    ASSERT_TRUE(group);
    kernel.running = 500;
    std::array<Count, 3> counts;
    ASSERT_TRUE(group->read(counts));
    EXPECT_EQ(counts[0],
              (Count{.raw = 30, .value = 60, .enabled_ns = 1000, .running_ns = 500, .lost = 7, .scaled = true}));
    EXPECT_EQ(counts[2].raw, 50);
}

TEST(Group, IsReadWithoutLostCountsOnKernelsBefore6) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) { return (call.attr.read_format & 16) != 0 ? EINVAL : 0; };
    auto group = Group::open(kThree, {}, {}, kernel);
    ASSERT_TRUE(group);
    std::array<Count, 3> counts;
    ASSERT_TRUE(group->read(counts));
    EXPECT_EQ(counts[1].raw, 40);
    EXPECT_EQ(counts[1].lost, 0);
}

TEST(Group, IsReadMemberByMemberIfTheKernelRefusesInheritedGroupReads) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) {
        return has_flag(call.attr, abi::flag("inherit")) && (call.attr.read_format & 8) != 0 ? EINVAL : 0;
    };
    auto group = Group::open(kThree, {}, {.inherit = true}, kernel);
    ASSERT_TRUE(group);
    std::array<Count, 3> counts;
    ASSERT_TRUE(group->read(counts));
    EXPECT_EQ(counts[0].raw, 30);
    EXPECT_EQ(counts[2].raw, 50);
    EXPECT_EQ(counts[2].enabled_ns, 1000);
}

TEST(Group, LeavesNothingOpenIfASiblingIsRefused) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) { return call.attr.config == 2 ? ENOENT : 0; };
    const auto group = Group::open(kThree, {}, {}, kernel);
    ASSERT_FALSE(group);
    EXPECT_THAT(group.error().what, HasSubstr("c"));
    EXPECT_THAT(kernel.events, ElementsAre());
}

TEST(Group, ReportsTheRefusedMemberAndItsErrno) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) { return call.attr.config == 1 ? ENOSPC : 0; };
    const std::array<const events::Event*, 3> events{&kThree.events[0], &kThree.events[1], &kThree.events[2]};
    const auto group = Group::try_open(events, {}, {}, kernel);
    ASSERT_FALSE(group);
    EXPECT_EQ(group.error().event, 1);
    EXPECT_EQ(group.error().errno_value, ENOSPC);
}

TEST(Group, ThatIsPinnedButHasNoCountersIsNotCounted) {
    FakeKernel kernel;
    auto group = Group::open(kThree, {}, {}, kernel);
    ASSERT_TRUE(group);
    kernel.end_of_file = true;
    std::array<Count, 3> counts{make_count(1, 1, 1), make_count(1, 1, 1), make_count(1, 1, 1)};
    ASSERT_TRUE(group->read(counts));
    EXPECT_FALSE(counts[0].counted());
    EXPECT_FALSE(counts[2].counted());
}

TEST(Group, ClosesWhenDestroyedAndNotWhenMoved) {
    FakeKernel kernel;
    {
        auto group = Group::open(kThree, {}, {}, kernel);
        ASSERT_TRUE(group);
        const Group moved = std::move(*group);
        EXPECT_EQ(kernel.events.size(), 3);
    }
    EXPECT_EQ(kernel.events.size(), 0);
}

TEST(Group, OfACgroupIsOpenedWithItsFlag) {
    FakeKernel kernel;
    ASSERT_TRUE(Group::open(kThree, {.pid = 7, .cpu = 1, .cgroup = true}, {}, kernel));
    EXPECT_EQ(kernel.calls[0].flags, 0b1100);
    EXPECT_EQ(kernel.calls[0].cpu, 1);
}

TEST(Group, WithMaximumPrecisionTakesWhatTheKernelAccepts) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) { return (call.attr.flags >> 15 & 3) > 1 ? EOPNOTSUPP : 0; };
    events::Event precise = event_named("a");
    precise.attr.flags = 3u << 15;
    precise.precise_max = true;
    ASSERT_TRUE(Group::open(group_of({precise}), {}, {}, kernel));
    EXPECT_EQ(kernel.calls.back().attr.flags >> 15 & 3, 1);
}

TEST(OpenEvent, RefusedAtEveryPrecisionReportsTheCallThatWasRefusedLast) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) { return (call.attr.flags >> 15 & 3) > 0 ? EOPNOTSUPP : EINVAL; };
    events::Event precise = event_named("a");
    precise.attr.flags = 3u << 15;
    precise.precise_max = true;
    const auto event = open_event(kernel, precise, {}, {.pid = 7, .cpu = 1}, 5);
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().errno_value, EINVAL);
    EXPECT_EQ(event.error().call.attr.flags >> 15 & 3, 0);
    EXPECT_EQ(event.error().call.pid, 7);
    EXPECT_EQ(event.error().call.group_fd, 5);
}

TEST(Counter, ReadsByASystemCallIfThePageHasNoCounter) {
    FakeKernel kernel;
    alignas(8) std::array<std::uint64_t, 512> page{};
    kernel.page = page.data();
    auto counter = Counter::open(event_named("a"), {}, {}, kernel);
    ASSERT_TRUE(counter);
    EXPECT_TRUE(counter->map_page());
    EXPECT_EQ(counter->read()->raw, 30);
}

TEST(Counter, ThatCannotBeReadReportsTheCause) {
    FakeKernel kernel;
    auto counter = Counter::open(event_named("a"), {}, {}, kernel);
    ASSERT_TRUE(counter);
    kernel.read_errno = EFAULT;
    const auto count = counter->read();
    ASSERT_FALSE(count);
    EXPECT_THAT(count.error().cause, HasSubstr("Bad address"));
}

}  // namespace
}  // namespace anyperf::counting
