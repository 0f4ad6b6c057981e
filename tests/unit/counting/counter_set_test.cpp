// counter_set_test.cpp: events × places, and refusals.
#include "anyperf/counter_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/counting/fake_kernel.h"

namespace anyperf::counting {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<events::EventGroup> three_alone() {
    return {group_of({event_named("a")}), group_of({event_named("b", 1)}), group_of({event_named("c", 2)})};
}

std::vector<events::EventGroup> three_grouped() {
    return {group_of({event_named("a"), event_named("b", 1), event_named("c", 2)})};
}

auto refuses_config(std::uint64_t config, int errno_value) {
    return [=](const FakeKernel::Call& call) { return call.attr.config == config ? errno_value : 0; };
}

TEST(CounterSet, SystemIsEveryOnlineCpu) {
    FakeKernel kernel;
    kernel.cpus = {0, 2, 5};
    auto set = CounterSet::open(three_alone(), Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(set->places(), ElementsAre(Place{-1, 0}, Place{-1, 2}, Place{-1, 5}));
    EXPECT_EQ(kernel.events.size(), 9);
    ASSERT_TRUE(set->read());
    EXPECT_EQ(set->count(0, 0).raw, 30);
    EXPECT_EQ(set->total(0).raw, 30 + 60 + 90);
}

TEST(CounterSet, TasksCanBeCountedWhileTheyRunOnSomeCpus) {
    FakeKernel kernel;
    Target target = Target::threads({11, 12});
    target.cpus = {0, 1};
    auto set = CounterSet::open(three_alone(), target, {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(set->places(), ElementsAre(Place{11, 0}, Place{11, 1}, Place{12, 0}, Place{12, 1}));
}

TEST(CounterSet, CgroupDirectoryIsClosedWhenItsEventsAreOpen) {
    FakeKernel kernel;
    auto set = CounterSet::open(three_alone(), Target::cgroup("/sys/fs/cgroup/x"), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(set->places(), ElementsAre(Place{999, 0, true}, Place{999, 1, true}));
    EXPECT_EQ(kernel.directories, 0);
}

TEST(CounterSet, AbsentCgroupIsTold) {
    FakeKernel kernel;
    const auto set = CounterSet::open(three_alone(), Target::cgroup("/absent"), {}, kernel);
    ASSERT_FALSE(set);
    EXPECT_THAT(set.error().cause, HasSubstr("no such directory"));
}

TEST(CounterSet, RefusalFailsTheWholeAndLeavesNothingOpen) {
    FakeKernel kernel;
    kernel.refuses = refuses_config(2, ENOENT);
    const auto set = CounterSet::open(three_alone(), Target::system(), {}, kernel);
    ASSERT_FALSE(set);
    EXPECT_THAT(kernel.events, ElementsAre());
}

TEST(CounterSet, RefusalCanBeKeptWhileTheOthersCount) {
    FakeKernel kernel;
    kernel.refuses = refuses_config(0, ENOENT);
    auto set = CounterSet::open(three_grouped(), Target::self(), {.on_refusal = OnRefusal::keep}, kernel);
    ASSERT_TRUE(set);
    ASSERT_TRUE(set->refusal(0));
    EXPECT_EQ(set->refusal(0)->errno_value, ENOENT);
    EXPECT_FALSE(set->refusal(1));
    ASSERT_TRUE(set->read());
    EXPECT_FALSE(set->count(0, 0).counted());
    EXPECT_TRUE(set->count(1, 0).counted());
    ASSERT_EQ(kernel.events.size(), 2);
    EXPECT_EQ(kernel.events.begin()->second.members.size(), 2) << "b leads and c is its sibling";
}

TEST(CounterSet, EventRefusedInOnePlaceIsCountedInNone) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) { return call.attr.config == 1 && call.cpu == 1 ? ENOSPC : 0; };
    auto set = CounterSet::open(three_alone(), Target::system(), {.on_refusal = OnRefusal::keep}, kernel);
    ASSERT_TRUE(set);
    ASSERT_TRUE(set->refusal(1));
    EXPECT_EQ(kernel.events.size(), 4);
    EXPECT_EQ(set->places().size(), 2);
}

TEST(CounterSet, TooManyDescriptorsIsNoRefusalOfAnEvent) {
    FakeKernel kernel;
    kernel.refuses = refuses_config(2, EMFILE);
    const auto set = CounterSet::open(three_alone(), Target::self(), {.on_refusal = OnRefusal::keep}, kernel);
    EXPECT_FALSE(set);
    EXPECT_THAT(kernel.events, ElementsAre());
}

TEST(CounterSet, WithoutPrivilegeCountsInUserModeWhereThatMeansSomething) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) {
        return has_flag(call.attr, abi::flag("exclude_kernel")) ? 0 : EACCES;
    };
    const std::vector groups{group_of({event_named("page-faults", 2)}), group_of({event_named("context-switches", 3)})};
    auto set =
        CounterSet::open(groups, Target::self(), {.on_refusal = OnRefusal::keep, .fall_back_to_user = true}, kernel);
    ASSERT_TRUE(set);
    EXPECT_TRUE(set->user_only(0));
    EXPECT_FALSE(set->refusal(0));
    EXPECT_FALSE(set->user_only(1)) << "would count a wrong zero";
    EXPECT_TRUE(set->refusal(1));
}

TEST(CounterSet, WeakGroupIsBrokenUpWhereItDoesNotFit) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) {
        return call.attr.config == 2 && call.group_fd >= 0 ? EINVAL : 0;
    };
    auto groups = three_grouped();
    groups[0].weak = true;
    auto set = CounterSet::open(groups, Target::self(), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_EQ(kernel.events.size(), 3);
    ASSERT_TRUE(set->read());
    EXPECT_TRUE(set->count(2, 0).counted());
}

TEST(CounterSet, EventOfSomeCpusIsOpenedOnThose) {
    FakeKernel kernel;
    kernel.cpus = {0, 1, 2, 3};
    auto events = three_alone();
    events[1].events[0].cpus = {2, 3};
    auto set = CounterSet::open(events, Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_EQ(kernel.events.size(), 10);
    ASSERT_TRUE(set->read());
    EXPECT_FALSE(set->count(1, 0).counted());
    EXPECT_TRUE(set->count(1, 2).counted());
}

TEST(CounterSet, UncoreEventOfATaskCountsOnItsCpusForEverybody) {
    FakeKernel kernel;
    auto events = three_alone();
    events[2].events[0].cpu_wide_only = true;
    events[2].events[0].cpus = {0};
    auto set = CounterSet::open(events, Target::self(), {.open = {.start = Start::on_exec, .inherit = true}}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(set->places(), ElementsAre(Place{0, -1}, Place{-1, 0}));
    EXPECT_EQ(kernel.calls.back().pid, -1);
    EXPECT_FALSE(has_flag(kernel.calls.back().attr, abi::flag("enable_on_exec")));
    EXPECT_FALSE(has_flag(kernel.calls.back().attr, abi::flag("inherit")));
}

TEST(CounterSet, EnableDisableAndResetReachEveryGroup) {
    FakeKernel kernel;
    auto set = CounterSet::open(three_alone(), Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    ASSERT_TRUE(set->enable());
    ASSERT_TRUE(set->disable());
    ASSERT_TRUE(set->reset());
    EXPECT_EQ(kernel.ioctls.size(), 18);
}

}  // namespace
}  // namespace anyperf::counting
