// sampling_control_test.cpp: the lists of active events, the safepoints requested for changes of them, REFRESH and
// PERIOD, as measured on Linux 6.18.
#include "unit/subsystem/fixture.h"

#include "subsystem/shared/page_values.h"

namespace anyperf::subsystem {
namespace {

class SamplingControl : public SubsystemTest {
  protected:
    EventIndex sampling(std::uint64_t period = 1000, std::uint64_t flags = 0) {
        return open(with_period(counting(0, flags), period));
    }
    /// The task's list of active events, in its order.
    std::vector<EventIndex> active_list(const FakeTask& task) {
        std::vector<EventIndex> list;
        for (EventIndex event = task.active_events.first; event != 0; event = page(event).next_active)
            list.push_back(event);
        return list;
    }
    /// Disables the event as its thread does when a REFRESH runs out.
    void run_out(EventIndex event) {
        page(event).requested_state = EventState::off;
        change_state(page(event), EventState::off, me.counters[0], me.ran_ns);
        page(event).limit = 0;
    }
};

TEST_F(SamplingControl, ActiveListHasSamplingAndSideBandEventsInThisOrder) {
    const auto first = sampling();
    const auto switches = open(software(FakeSoftwarePmu::kDummy, flag("context_switch")));
    const auto off = sampling(1000, kDisabled);
    EXPECT_THAT(active_list(me), ElementsAre(first, off, switches));
    open(software(FakeSoftwarePmu::kDummy));
    const auto counts = open(counting(3));
    EXPECT_THAT(active_list(me), ElementsAre(first, off, switches)) << "an event that only counts is not in the list";
    disable(first);
    enable(off);
    EXPECT_THAT(active_list(me), ElementsAre(first, off, switches)) << "the list does not depend on states";
    EXPECT_EQ(me.active_events.counters, 0b1001);
    subsystem.close(off);
    EXPECT_THAT(active_list(me), ElementsAre(first, switches));
    const auto last = sampling();
    EXPECT_THAT(active_list(me), ElementsAre(first, last, switches));
    for (const EventIndex event : {first, switches, last, counts}) subsystem.close(event);
    EXPECT_EQ(me.active_events.first, 0);
    EXPECT_EQ(me.active_events.counters, 0);
}

TEST_F(SamplingControl, SafepointIsRequestedOnlyIfTheNeededCountersChange) {
    const auto one = open(counting(3));
    EXPECT_EQ(me.safepoint_requests, 1);
    const auto another = open(counting(3));
    subsystem.close(one);
    EXPECT_EQ(me.safepoint_requests, 1) << "the counter is already kept";
    EXPECT_EQ(me.active_events.counters, 0b1000);
    const auto other = open(counting(4));
    EXPECT_EQ(me.active_events.counters, 0b11000);
    EXPECT_EQ(me.safepoint_requests, 2);
    for (const EventIndex event : {another, other}) subsystem.close(event);
    EXPECT_EQ(me.active_events.counters, 0);
    EXPECT_EQ(me.safepoint_requests, 4);
}
TEST_F(SamplingControl, PageFaultsAreKeptWhileAnEventCountsThem) {
    const auto event = open(software(FakeSoftwarePmu::kFaults));
    EXPECT_TRUE(me.active_events.faults);
    subsystem.close(event);
    EXPECT_FALSE(me.active_events.faults);
}
TEST_F(SamplingControl, SafepointIsRequestedForNewAndForToggledSamplingEvents) {
    const auto event = open(counting());
    EXPECT_EQ(me.safepoint_requests, 1);
    disable(event);
    enable(event);
    EXPECT_EQ(me.safepoint_requests, 1);
    const auto samples = sampling();
    disable(samples);
    enable(samples);
    EXPECT_EQ(me.safepoint_requests, 4);
}
TEST_F(SamplingControl, EachThreadHasItsOwnActiveList) {
    const auto event = sampling(1000, flag("inherit"));
    FakeTask& child = fork(me, 200);
    EXPECT_THAT(active_list(me), ElementsAre(event));
    EXPECT_THAT(active_list(child), ElementsAre(event + 1));
    EXPECT_EQ(child.safepoint_requests, 1);
    disable(event);
    EXPECT_EQ(page(event + 1).state, EventState::off);
    EXPECT_EQ(child.safepoint_requests, 2);
    subsystem.close(event);
    EXPECT_TRUE(active_list(child).empty());
}
TEST_F(SamplingControl, SafepointIsRequestedIfAMoveStartsASamplingEvent) {
    const auto event = open(with_period(counting(), 100), {.cpu = 1});
    EXPECT_EQ(page(event).state, EventState::inactive);
    const int before = me.safepoint_requests;
    move(me, 1);
    EXPECT_EQ(page(event).state, EventState::counting);
    EXPECT_EQ(me.safepoint_requests, before + 1);
}
TEST_F(SamplingControl, PeriodContinuesAfterADisable) {
    const auto event = sampling(1000);
    me.run(1, 400);
    disable(event);
    me.run(1, 5000);
    enable(event);
    EXPECT_EQ(page(event).overflow_at - me.counters[0], 600);
    reset(event);
    EXPECT_EQ(page(event).overflow_at - me.counters[0], 600) << "RESET does not change the rest of the period";
}
TEST_F(SamplingControl, FrequencyStartsWithAPeriodOfOne) {
    const auto event = sampling(4000, flag("freq"));
    EXPECT_EQ(page(event).frequency, 4000);
    EXPECT_EQ(page(event).period, 1);
}
TEST_F(SamplingControl, FrequencyOfAClockBecomesAPeriod) {
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
    EXPECT_THAT(active_list(me), ElementsAre(event));
}
TEST_F(SamplingControl, EventStopsWhenItsRefreshRunsOut) {
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
TEST_F(SamplingControl, SiblingsStopWhenTheRefreshOfTheirLeaderRunsOut) {
    const auto leader = sampling(100);
    const auto sibling = open_sibling(counting(1), leader);
    run_out(leader);
    subsystem.refresh_ran_out(leader);
    me.counters[1] += 5;
    EXPECT_EQ(count(sibling), 0);
    subsystem.refresh_ran_out(leader);
    subsystem.refresh_ran_out(99999);
}

struct PeriodCase {
    std::string name;
    std::uint64_t opened;
    std::uint64_t flags;
    std::uint64_t value;
};
class InvalidPeriod : public SubsystemTest, public testing::WithParamInterface<PeriodCase> {};
TEST_P(InvalidPeriod, IsEinvalAndChangesNothing) {
    const auto event = open(with_period(counting(0, GetParam().flags), GetParam().opened));
    const auto before = page(event).period;
    EXPECT_THAT(ioctl_u64(event, "PERF_EVENT_IOC_PERIOD", GetParam().value), RefusedWith(EINVAL));
    EXPECT_EQ(page(event).period, before);
}
INSTANTIATE_TEST_SUITE_P(All, InvalidPeriod,
                         testing::Values(PeriodCase{"CountingEvent", 0, 0, 10}, PeriodCase{"Zero", 100, 0, 0},
                                         PeriodCase{"Bit63", 100, 0, 1ull << 63},
                                         PeriodCase{"TooFast", 1000, flag("freq"), 100'001}),
                         [](const auto& test) { return test.param.name; });

TEST_F(SamplingControl, PeriodAtABadPointerIsEfault) {
    EXPECT_THAT(ioctl(sampling(), "PERF_EVENT_IOC_PERIOD"), RefusedWith(EFAULT));
}
TEST_F(SamplingControl, NewPeriodBeginsAtOnceAndRequestsSafepoints) {
    const auto event = open(with_period(counting(0, flag("inherit")), 1000));
    FakeTask& child = fork(me, 200);
    me.run(1, 400);
    const int before = child.safepoint_requests;
    EXPECT_THAT(ioctl_u64(event, "PERF_EVENT_IOC_PERIOD", 50), Succeeds());
    EXPECT_EQ(page(event).period, 50);
    EXPECT_EQ(page(event).overflow_at - me.counters[0], 50);
    EXPECT_EQ(page(event + 1).period, 50);
    EXPECT_EQ(child.safepoint_requests, before + 1);
}

TEST_F(SamplingControl, FilterBpfAndModifyAreRefusedByAPmuWithoutThem) {
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
