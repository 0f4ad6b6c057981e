// Armed lists, REFRESH, PERIOD (kernel facts, "ioctl").
#include "unit/subsystem/fixture.h"

#include "subsystem/shared/page_count.h"

namespace anyperf::subsystem {
namespace {

class SamplingControl : public SubsystemTest {
  protected:
    EventIndex sampling(std::uint64_t period = 1000, std::uint64_t flags = 0) {
        return open(with_period(counting(0, flags), period));
    }
    std::vector<EventIndex> armed(const FakeTask& task) {
        std::vector<EventIndex> list;
        for (EventIndex event = task.armed.first; event != 0; event = page(event).next_armed) list.push_back(event);
        return list;
    }
    /// As the thread does it when a REFRESH has run out.
    void run_out(EventIndex event) {
        page(event).own = EventState::off;
        change_state(page(event), EventState::off, me.counters[0], me.ran_ns);
        page(event).limit = 0;
    }
};

TEST_F(SamplingControl, EventsThatAThreadLooksForAreArmedThoseThatSampleFirst) {
    const auto first = sampling();
    const auto switches = open(software(FakeSoftwarePmu::kDummy, flag("context_switch")));
    const auto off = sampling(1000, kDisabled);
    EXPECT_THAT(armed(me), ElementsAre(first, off, switches));
    open(software(FakeSoftwarePmu::kDummy));
    const auto counts = open(counting(3));
    EXPECT_THAT(armed(me), ElementsAre(first, off, switches)) << "what only counts is no thread's to look for";
    disable(first);
    enable(off);
    EXPECT_THAT(armed(me), ElementsAre(first, off, switches)) << "in whatever state";
    EXPECT_EQ(me.armed.counters, 0b1001);
    subsystem.close(off);
    EXPECT_THAT(armed(me), ElementsAre(first, switches));
    const auto last = sampling();
    EXPECT_THAT(armed(me), ElementsAre(first, last, switches));
    for (const EventIndex event : {first, switches, last, counts}) subsystem.close(event);
    EXPECT_EQ(me.armed.first, 0);
    EXPECT_EQ(me.armed.counters, 0);
}

TEST_F(SamplingControl, AThreadKeepsWhatOneOfManyEventsNeedsAndLooksOnlyWhenThatChanges) {
    const auto one = open(counting(3));
    EXPECT_EQ(me.attended, 1);
    const auto another = open(counting(3));
    subsystem.close(one);
    EXPECT_EQ(me.attended, 1) << "it has it already, and goes on";
    EXPECT_EQ(me.armed.counters, 0b1000);
    const auto other = open(counting(4));
    EXPECT_EQ(me.armed.counters, 0b11000);
    EXPECT_EQ(me.attended, 2);
    for (const EventIndex event : {another, other}) subsystem.close(event);
    EXPECT_EQ(me.armed.counters, 0);
    EXPECT_EQ(me.attended, 4);
}
TEST_F(SamplingControl, FaultsAreKeptWhileAnEventCountsThem) {
    const auto event = open(software(FakeSoftwarePmu::kFaults));
    EXPECT_TRUE(me.armed.faults);
    subsystem.close(event);
    EXPECT_FALSE(me.armed.faults);
}
TEST_F(SamplingControl, AThreadLooksWhenEventsComeAndGoAndWhenOneThatSamplesIsSwitched) {
    const auto event = open(counting());
    EXPECT_EQ(me.attended, 1);
    disable(event);
    enable(event);
    EXPECT_EQ(me.attended, 1);
    const auto samples = sampling();
    disable(samples);
    enable(samples);
    EXPECT_EQ(me.attended, 4);
}
TEST_F(SamplingControl, EachThreadHasItsOwnList) {
    const auto event = sampling(1000, flag("inherit"));
    FakeTask& child = fork(me, 200);
    EXPECT_THAT(armed(me), ElementsAre(event));
    EXPECT_THAT(armed(child), ElementsAre(event + 1));
    EXPECT_EQ(child.attended, 1);
    disable(event);
    EXPECT_EQ(page(event + 1).state, EventState::off);
    EXPECT_EQ(child.attended, 2);
    subsystem.close(event);
    EXPECT_TRUE(armed(child).empty());
}
TEST_F(SamplingControl, AThreadLooksWhenItsMoveMakesAnEventThatSamplesCount) {
    const auto event = open(with_period(counting(), 100), {.cpu = 1});
    EXPECT_EQ(page(event).state, EventState::inactive);
    const int before = me.attended;
    move(me, 1);
    EXPECT_EQ(page(event).state, EventState::active);
    EXPECT_EQ(me.attended, before + 1);
}
TEST_F(SamplingControl, ThePeriodGoesOnWhereItStoodWhenDisabled) {
    const auto event = sampling(1000);
    me.run(1, 400);
    disable(event);
    me.run(1, 5000);
    enable(event);
    EXPECT_EQ(page(event).overflow_at - me.counters[0], 600);
    reset(event);
    EXPECT_EQ(page(event).overflow_at - me.counters[0], 600) << "RESET doesn't touch the phase";
}
TEST_F(SamplingControl, AFrequencyStartsWithAPeriodOfOne) {
    const auto event = sampling(4000, flag("freq"));
    EXPECT_EQ(page(event).frequency, 4000);
    EXPECT_EQ(page(event).period, 1);
}
TEST_F(SamplingControl, AClocksFrequencyIsAPeriod) {
    const auto event = open(with_period(software(FakeSoftwarePmu::kClock, flag("freq")), 4000));
    EXPECT_EQ(page(event).frequency, 0);
    EXPECT_EQ(page(event).period, 250'000);
    EXPECT_THAT(ioctl_u64(event, "PERF_EVENT_IOC_PERIOD", 1'000'000), Succeeds()) << "any value is accepted";
}

TEST_F(SamplingControl, RefreshNeedsASamplingEventWithoutInherit) {
    EXPECT_THAT(ioctl(open(counting()), "PERF_EVENT_IOC_REFRESH", 1), RefusedWith(EINVAL));
    EXPECT_THAT(ioctl(sampling(100, flag("inherit")), "PERF_EVENT_IOC_REFRESH", 1), RefusedWith(EINVAL));
}
TEST_F(SamplingControl, RefreshAddsToTheLimitAndEnables) {
    const auto event = sampling(100, kDisabled);
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_REFRESH", 2), Succeeds());
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_REFRESH", 3), Succeeds());
    EXPECT_EQ(page(event).limit, 5);
    EXPECT_THAT(armed(me), ElementsAre(event));
}
TEST_F(SamplingControl, ARefreshThatRanOutStopsTheEvent) {
    const auto event = sampling(100);
    me.run(1, 100);
    run_out(event);
    me.run(1, 50);
    EXPECT_EQ(count(event), 100);
    EXPECT_EQ(page(event).state, EventState::off);
    enable(event);
    me.run(1, 7);
    EXPECT_EQ(count(event), 107);
}
TEST_F(SamplingControl, SiblingsOfALeaderThatRanOutStopWithIt) {
    const auto leader = sampling(100);
    const auto sibling = open_sibling(counting(1), leader);
    run_out(leader);
    subsystem.ran_out(leader);
    me.counters[1] += 5;
    EXPECT_EQ(count(sibling), 0);
    subsystem.ran_out(leader);
    subsystem.ran_out(99999);
}

struct PeriodCase {
    std::string name;
    std::uint64_t opened;
    std::uint64_t flags;
    std::uint64_t value;
};
class PeriodRefuses : public SubsystemTest, public testing::WithParamInterface<PeriodCase> {};
TEST_P(PeriodRefuses, AndChangesNothing) {
    const auto event = open(with_period(counting(0, GetParam().flags), GetParam().opened));
    const auto before = page(event).period;
    EXPECT_THAT(ioctl_u64(event, "PERF_EVENT_IOC_PERIOD", GetParam().value), RefusedWith(EINVAL));
    EXPECT_EQ(page(event).period, before);
}
INSTANTIATE_TEST_SUITE_P(All, PeriodRefuses,
                         testing::Values(PeriodCase{"CountingEvent", 0, 0, 10}, PeriodCase{"Zero", 100, 0, 0},
                                         PeriodCase{"Bit63", 100, 0, 1ull << 63},
                                         PeriodCase{"TooFast", 1000, flag("freq"), 100'001}),
                         [](const auto& test) { return test.param.name; });

TEST_F(SamplingControl, ABadPointerIsEfault) {
    EXPECT_THAT(ioctl(sampling(), "PERF_EVENT_IOC_PERIOD"), RefusedWith(EFAULT));
}
TEST_F(SamplingControl, ANewPeriodBeginsAtOnceAndItsThreadsLook) {
    const auto event = open(with_period(counting(0, flag("inherit")), 1000));
    FakeTask& child = fork(me, 200);
    me.run(1, 400);
    const int before = child.attended;
    EXPECT_THAT(ioctl_u64(event, "PERF_EVENT_IOC_PERIOD", 50), Succeeds());
    EXPECT_EQ(page(event).period, 50);
    EXPECT_EQ(page(event).overflow_at - me.counters[0], 50);
    EXPECT_EQ(page(event + 1).period, 50);
    EXPECT_EQ(child.attended, before + 1);
}

TEST_F(SamplingControl, WhatOnlyOtherPmusKnow) {
    const auto event = open(counting());
    const std::array<std::byte, 4> text{};
    const auto with_text = IoctlArgument{.word = 1, .bytes = text};
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_SET_FILTER"), RefusedWith(EFAULT));
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_SET_FILTER", with_text), RefusedWith(EINVAL));
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_SET_BPF"), RefusedWith(EBADF));
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_SET_BPF", IoctlArgument{.descriptor = {.open = true}}),
                RefusedWith(EINVAL));
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_QUERY_BPF"), RefusedWith(EPERM));
    host.caller.perfmon = true;
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_QUERY_BPF"), RefusedWith(EINVAL));
    EXPECT_THAT(ioctl(event, "PERF_EVENT_IOC_MODIFY_ATTRIBUTES"), RefusedWith(EFAULT));
    Attr attr = counting();
    const auto modify = [&] {
        return ioctl(event, "PERF_EVENT_IOC_MODIFY_ATTRIBUTES",
                     IoctlArgument{.word = 1, .bytes = std::as_bytes(std::span(&attr, 1))});
    };
    EXPECT_THAT(modify(), RefusedWith(EOPNOTSUPP));
    attr.type = 1;
    EXPECT_THAT(modify(), RefusedWith(EINVAL));
    attr.size = 3;
    EXPECT_EQ(modify().error(), (Refusal{E2BIG, modify().error().reason, 136}));
}

}  // namespace
}  // namespace anyperf::subsystem
