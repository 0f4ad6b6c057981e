// processes_test.cpp: all threads of a process are counted once, though threads start and end during the open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "anyperf/counter_set.h"
#include "unit/counting/fake_kernel.h"

namespace anyperf::counting {
namespace {

using testing::ElementsAre;

const std::vector kEvents{group_of({event_named("a")})};

std::vector<pid_t> tids(const CounterSet& set) {
    std::vector<pid_t> found;
    for (const auto& place : set.places()) found.push_back(place.pid);
    return found;
}

TEST(Processes, AreOpenedThreadByThread) {
    FakeKernel kernel;
    kernel.threads = [](pid_t) { return std::vector<pid_t>{10, 11, 12}; };
    const auto set = CounterSet::open(kEvents, Target::process(10), {.open = {.inherit = true}}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(tids(*set), ElementsAre(10, 11, 12));
    EXPECT_TRUE(set->stable());
}

TEST(Processes, CountAThreadThatAppearsDuringTheOpenOnce) {
    FakeKernel kernel;
    kernel.threads = [&](pid_t) { return kernel.calls.empty() ? std::vector<pid_t>{10} : std::vector<pid_t>{10, 11}; };
    const auto set = CounterSet::open(kEvents, Target::process(10), {.open = {.inherit = true}}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(tids(*set), ElementsAre(10, 11));
    EXPECT_EQ(kernel.calls.size(), 3) << "10, then both again, because 11 could have inherited the event of 10";
    EXPECT_EQ(kernel.events.size(), 2) << "the events of the first round are closed";
}

TEST(Processes, AddNewThreadsToTheOpenEventsWithoutInherit) {
    FakeKernel kernel;
    kernel.threads = [&](pid_t) { return kernel.calls.empty() ? std::vector<pid_t>{10} : std::vector<pid_t>{10, 11}; };
    const auto set = CounterSet::open(kEvents, Target::process(10), {}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(tids(*set), ElementsAre(10, 11));
    EXPECT_EQ(kernel.calls.size(), 2);
}

TEST(Processes, ThatKeepCreatingThreadsAreReportedAsUnstable) {
    FakeKernel kernel;
    kernel.threads = [&](pid_t) { return std::vector<pid_t>{10, static_cast<pid_t>(11 + kernel.calls.size())}; };
    const auto set = CounterSet::open(kEvents, Target::process(10), {.open = {.inherit = true}}, kernel);
    ASSERT_TRUE(set);
    EXPECT_FALSE(set->stable());
}

TEST(Processes, SkipAThreadThatEndsDuringTheOpen) {
    FakeKernel kernel;
    kernel.threads = [](pid_t) { return std::vector<pid_t>{10, 11, 12}; };
    kernel.refuses = [](const FakeKernel::Call& call) { return call.pid == 11 ? ESRCH : 0; };
    const auto set = CounterSet::open(kEvents, Target::process(10), {.open = {.inherit = true}}, kernel);
    ASSERT_TRUE(set);
    EXPECT_THAT(tids(*set), ElementsAre(10, 12));
}

TEST(Processes, ThatDoNotExistAreAnError) {
    FakeKernel kernel;
    kernel.threads = [](pid_t) { return std::vector<pid_t>{}; };
    const auto set = CounterSet::open(kEvents, Target::process(10), {.on_refusal = OnRefusal::keep}, kernel);
    EXPECT_FALSE(set);
}

TEST(Processes, WhoseThreadsHaveAllEndedAreAnError) {
    FakeKernel kernel;
    kernel.refuses = [](const FakeKernel::Call&) { return ESRCH; };
    const auto set = CounterSet::open(kEvents, Target::process(10), {.on_refusal = OnRefusal::keep}, kernel);
    EXPECT_FALSE(set);
    EXPECT_EQ(kernel.events.size(), 0);
}

}  // namespace
}  // namespace anyperf::counting
