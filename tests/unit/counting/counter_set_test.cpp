// counter_set_test.cpp: in which places (tasks, CPUs) a set opens its events, and what it does about refusals.
#include "anyperf/counter_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/counting/fake_kernel.h"

namespace anyperf::counting {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<events::EventGroup> three_single_events() {
    return {group_of({event_named("a")}), group_of({event_named("b", 1)}), group_of({event_named("c", 2)})};
}

std::vector<events::EventGroup> three_in_a_group() {
    return {group_of({event_named("a"), event_named("b", 1), event_named("c", 2)})};
}

auto refuses_config(std::uint64_t config, int errno_value) {
    return [=](const FakeKernel::Call& call) { return call.attr.config == config ? errno_value : 0; };
}

TEST(CounterSet, OfTheSystemCoversEveryOnlineCpu) {
    FakeKernel kernel;
    kernel.cpus = {0, 2, 5};
    auto set = CounterSet::open(three_single_events(), Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(set->places(), ElementsAre(Place{-1, 0}, Place{-1, 2}, Place{-1, 5}));
    EXPECT_EQ(kernel.events.size(), 9);
    ASSERT_TRUE(set->read());
    EXPECT_EQ(set->count(0, 0).raw, 30);
    EXPECT_EQ(set->total(0).raw, 30 + 60 + 90);
}

TEST(CounterSet, OfTasksCanBeLimitedToSomeCpus) {
    FakeKernel kernel;
    Target target = Target::threads({11, 12});
    target.cpus = {0, 1};
    auto set = CounterSet::open(three_single_events(), target, {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(set->places(), ElementsAre(Place{11, 0}, Place{11, 1}, Place{12, 0}, Place{12, 1}));
}

TEST(CounterSet, ClosesTheCgroupDirectoryAfterTheOpens) {
    FakeKernel kernel;
    auto set = CounterSet::open(three_single_events(), Target::cgroup("/sys/fs/cgroup/x"), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(set->places(), ElementsAre(Place{999, 0, true}, Place{999, 1, true}));
    EXPECT_EQ(kernel.directories, 0);
}

TEST(CounterSet, ReportsAMissingCgroup) {
    FakeKernel kernel;
    const auto set = CounterSet::open(three_single_events(), Target::cgroup("/absent"), {}, kernel);
    ASSERT_FALSE(set);
    EXPECT_THAT(set.error().cause, HasSubstr("no such directory"));
}

TEST(CounterSet, SaysWhyACgroupCannotBeOpened) {
    FakeKernel kernel;
    kernel.directory_errno = EMFILE;
    const auto full = CounterSet::open(three_single_events(), Target::cgroup("/x"), {}, kernel);
    ASSERT_FALSE(full);
    EXPECT_THAT(full.error().cause, HasSubstr("Too many open files"));
    EXPECT_THAT(full.error().fix, HasSubstr("ulimit -n"));
    kernel.directory_errno = ELOOP;
    EXPECT_THAT(CounterSet::open(three_single_events(), Target::cgroup("/x"), {}, kernel).error().cause,
                HasSubstr("symbolic links"));
}

TEST(CounterSet, SwitchesOneEventInEveryPlace) {
    FakeKernel kernel;
    auto set = CounterSet::open(three_single_events(), Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    kernel.ioctls.clear();
    ASSERT_TRUE(set->enable(1));
    ASSERT_EQ(kernel.ioctls.size(), 2);
    for (const auto& [fd, request] : kernel.ioctls) EXPECT_EQ(kernel.events.at(fd).call.attr.config, 1);
}

TEST(CounterSet, FailsAsAWholeOnARefusalAndLeavesNothingOpen) {
    FakeKernel kernel;
    kernel.refuses = refuses_config(2, ENOENT);
    const auto set = CounterSet::open(three_single_events(), Target::system(), {}, kernel);
    ASSERT_FALSE(set);
    EXPECT_THAT(kernel.events, ElementsAre());
}

TEST(CounterSet, KeepsARefusalOnRequestWhileTheOthersCount) {
    FakeKernel kernel;
    kernel.refuses = refuses_config(0, ENOENT);
    auto set = CounterSet::open(three_in_a_group(), Target::self(), {.on_refusal = OnRefusal::keep}, kernel);
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

TEST(CounterSet, CountsAnEventNowhereIfOnePlaceRefusesIt) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) { return call.attr.config == 1 && call.cpu == 1 ? ENOSPC : 0; };
    auto set = CounterSet::open(three_single_events(), Target::system(), {.on_refusal = OnRefusal::keep}, kernel);
    ASSERT_TRUE(set);
    ASSERT_TRUE(set->refusal(1));
    EXPECT_EQ(kernel.events.size(), 4);
    EXPECT_EQ(set->places().size(), 2);
}

TEST(CounterSet, FailsOnTooManyDescriptorsInsteadOfKeepingARefusal) {
    FakeKernel kernel;
    kernel.refuses = refuses_config(2, EMFILE);
    const auto set = CounterSet::open(three_single_events(), Target::self(), {.on_refusal = OnRefusal::keep}, kernel);
    EXPECT_FALSE(set);
    EXPECT_THAT(kernel.events, ElementsAre());
}

TEST(CounterSet, FallsBackToUserModeOnlyForEventsThatHappenThere) {
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
    EXPECT_FALSE(set->user_only(1)) << "in user mode it would count 0, which is wrong";
    EXPECT_TRUE(set->refusal(1));
}

TEST(CounterSet, BreaksUpAWeakGroupThatDoesNotFit) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call& call) {
        return call.attr.config == 2 && call.group_fd >= 0 ? EINVAL : 0;
    };
    auto groups = three_in_a_group();
    groups[0].weak = true;
    auto set = CounterSet::open(groups, Target::self(), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_EQ(kernel.events.size(), 3);
    ASSERT_TRUE(set->read());
    EXPECT_TRUE(set->count(2, 0).counted());
}

TEST(CounterSet, KeepsAnEventThatIsCountedApartOutOfItsGroup) {
    FakeKernel kernel;
    kernel.apart = [](const abi::Attr& attr) { return attr.config == 1; };
    auto set = CounterSet::open(three_in_a_group(), Target::self(), {}, kernel);
    ASSERT_TRUE(set);
    std::size_t alone = 0;
    for (const auto& [fd, event] : kernel.events)
        alone += event.call.attr.config == 1 && event.call.group_fd < 0 ? 1 : 0;
    EXPECT_EQ(alone, 1);
    EXPECT_EQ(std::ranges::count_if(kernel.events, [](const auto& each) { return each.second.call.group_fd >= 0; }), 1);
    ASSERT_TRUE(set->read());
    for (std::size_t event = 0; event < 3; ++event) EXPECT_TRUE(set->count(event, 0).counted()) << event;
}

TEST(CounterSet, OpensAnEventOnItsOwnCpusOnly) {
    FakeKernel kernel;
    kernel.cpus = {0, 1, 2, 3};
    auto events = three_single_events();
    events[1].events[0].cpus = {2, 3};
    auto set = CounterSet::open(events, Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_EQ(kernel.events.size(), 10);
    ASSERT_TRUE(set->read());
    EXPECT_FALSE(set->count(1, 0).counted());
    EXPECT_TRUE(set->count(1, 2).counted());
}

TEST(CounterSet, OpensAnUncoreEventOfATaskForWholeCpus) {
    FakeKernel kernel;
    auto events = three_single_events();
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
    auto set = CounterSet::open(three_single_events(), Target::system(), {}, kernel);
    ASSERT_TRUE(set);
    ASSERT_TRUE(set->enable());
    ASSERT_TRUE(set->disable());
    ASSERT_TRUE(set->reset());
    EXPECT_EQ(kernel.ioctls.size(), 18);
}

}  // namespace
}  // namespace anyperf::counting
