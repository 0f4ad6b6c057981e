// overflow_test.cpp: which of a row of events overflow, and what each overflow does. The expected values are those of
// Linux 6.18; for counters, those of its x86 driver.
#include "subsystem/shared/overflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"

namespace anyperf::subsystem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Lt;
using Kind = Source::Kind;

/// An active sampling event, with the value of its source and the time.
class Sampling {
  public:
    explicit Sampling(Kind kind, std::uint64_t period) {
        page.source.kind = kind;
        page.state = EventState::counting;
        page.sampling = 1;
        page.period = period;
    }

    void start() {
        page.period_left = first_period(page);
        resume_period(page);
        page.overflow_at = value + page.period_left;
    }

    /// The source grows by `by`, in as many ns. Returns the overflows.
    std::vector<Overflow> step(std::uint64_t by = 1) {
        value += by;
        now += by;
        if (page.source.kind == Kind::occurrences) add_occurrences(page, by);
        std::vector<Overflow> overflows;
        while (overflow_due(page, value)) {
            overflows.push_back(take_overflow(page, value, now, per_tick));
            if (overflows.back().disable) page.state = EventState::off;
        }
        return overflows;
    }

    /// Which of the next `count` events overflow, numbered from 1.
    std::vector<int> during(int count) {
        std::vector<int> at;
        for (int i = 1; i <= count; ++i)
            for (std::size_t overflows = step().size(); overflows > 0; --overflows) at.push_back(i);
        return at;
    }

    EventPage page;
    std::uint64_t value = 1000;
    std::uint64_t now = 1'000'000;
    std::uint32_t per_tick = 0;
};

class SamplingEvent : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SamplingEvent, ::testing::Values(Kind::counters, Kind::page_faults, Kind::occurrences));

TEST_P(SamplingEvent, SamplesEveryPthEvent) {
    Sampling event{GetParam(), 100};
    event.start();
    EXPECT_THAT(event.during(350), ElementsAre(100, 200, 300));
}

TEST_P(SamplingEvent, ThatOnlyCountsNeverOverflows) {
    Sampling event{GetParam(), 0};
    event.page.sampling = 0;
    event.start();
    EXPECT_THAT(event.during(100), ElementsAre());
}

TEST_P(SamplingEvent, DisablesItselfAndHangsUpWhenItsRefreshRunsOut) {
    Sampling event{GetParam(), 10};
    event.page.limit = 2;
    event.page.notify = {.owner = 1, .on = 1};
    event.start();
    event.step(10);
    EXPECT_EQ(event.page.limit, 1);
    const auto last = event.step(10);
    ASSERT_EQ(last.size(), 1u);
    EXPECT_TRUE(last[0].sample && last[0].disable && last[0].hang_up && last[0].signal);
    EXPECT_THAT(event.during(100), ElementsAre());
}

TEST(Signal, IsSentAtEachOverflowWhateverTheWakeup) {
    Sampling event{Kind::page_faults, 10};
    event.page.notify = {.owner = 1, .on = 1};
    event.page.shape.wakeup = 100;
    event.start();
    const auto overflow = event.step(10).front();
    EXPECT_TRUE(overflow.signal);
    EXPECT_FALSE(overflow.hang_up);
}

TEST(Signal, IsNotSentWithoutAnOwnerOrAfterClearingAsync) {
    Sampling event{Kind::page_faults, 10};
    event.start();
    EXPECT_FALSE(event.step(10).front().signal);
    event.page.notify = {.owner = 1, .on = 0};
    EXPECT_FALSE(event.step(10).front().signal);
}

TEST(Sigtrap, IsSentOncePerOverflow) {
    Sampling event{Kind::occurrences, 1};
    event.page.shape.flags = abi::flag("sigtrap");
    event.start();
    EXPECT_TRUE(event.step().front().sigtrap);
}

TEST(Period, OfPageFaultsChangesAfterTheSecondOverflow) {
    Sampling event{Kind::page_faults, 100};
    event.start();
    event.during(60);
    change_period(event.page, event.value, 50);
    EXPECT_THAT(event.during(200), ElementsAre(1, 100, 150, 200));
}

TEST(Period, OfSoftwareEventsChangesAfterTheSecondOverflow) {
    Sampling event{Kind::occurrences, 100};
    event.start();
    event.during(60);
    change_period(event.page, 0, 50);
    EXPECT_THAT(event.during(200), ElementsAre(1, 100, 150, 200));
}

TEST(Period, OfACounterChangesAtOnce) {
    Sampling event{Kind::counters, 100};
    event.start();
    event.during(60);
    change_period(event.page, event.value, 50);
    EXPECT_THAT(event.during(200), ElementsAre(50, 100, 150, 200));
}

TEST(SamplePeriod, MakesEverySoftwareEventASampleOfPeriodOne) {
    Sampling event{Kind::page_faults, 100};
    event.page.shape.sample_type = abi::sample("PERF_SAMPLE_PERIOD");
    event.start();
    const auto overflows = event.step(3);
    ASSERT_EQ(overflows.size(), 3u);
    EXPECT_EQ(overflows[0].period, 1u);
}

TEST(SamplePeriod, IsTheFixedPeriodOfACounter) {
    Sampling event{Kind::counters, 100};
    event.page.shape.sample_type = abi::sample("PERF_SAMPLE_PERIOD");
    event.start();
    EXPECT_EQ(event.step(100).front().period, 100u);
}

TEST(Counter, OvershootIsPartOfTheNextPeriod) {
    Sampling event{Kind::counters, 100};
    event.start();
    EXPECT_EQ(event.step(107).size(), 1u);
    EXPECT_THAT(event.during(100), ElementsAre(93));
}

TEST(Counter, OvershootOfManyPeriodsIsOneOverflow) {
    Sampling event{Kind::counters, 100};
    event.start();
    EXPECT_EQ(event.step(1007).size(), 1u);
    EXPECT_THAT(event.during(100), ElementsAre(100));
}

TEST(SoftwareCount, OverflowsOnceForEachPeriodInALongStep) {
    Sampling event{Kind::page_faults, 10};
    event.start();
    EXPECT_EQ(event.step(35).size(), 3u);
}

TEST(Clock, SamplesAtMostEveryTenMicroseconds) {
    Sampling event{Kind::task_clock, 100};
    event.start();
    EXPECT_EQ(event.step(9'999).size(), 0u);
    EXPECT_EQ(event.step(1).size(), 1u);
}

TEST(Clock, SkipsMissedPeriods) {
    Sampling event{Kind::cpu_clock, 20'000};
    event.start();
    EXPECT_EQ(event.step(70'000).size(), 1u);
    EXPECT_EQ(event.step(9'999).size(), 0u);
    EXPECT_EQ(event.step(1).size(), 1u) << "at 80,000";
}

TEST(Clock, IsThrottledUntilTheNextTick) {
    Sampling event{Kind::task_clock, 10'000};
    event.now = 100 * kTickNs;
    event.per_tick = 4;
    event.start();
    std::vector<std::uint64_t> samples;
    for (int i = 0; i < 500; ++i)
        for (const Overflow& overflow : event.step(10'000)) {
            samples.push_back((event.now - 100 * kTickNs) / 1000);
            EXPECT_EQ(overflow.throttle, samples.size() % 4 == 0) << samples.size();
            EXPECT_EQ(overflow.unthrottle, samples.size() == 5) << samples.size();
        }
    EXPECT_THAT(samples, ElementsAre(10, 20, 30, 40, 4000, 4010, 4020, 4030));
}

TEST(Clock, IsNotThrottledBelowTheRate) {
    Sampling event{Kind::task_clock, 20'000};
    event.per_tick = 400;
    event.start();
    for (int i = 0; i < 2000; ++i)
        for (const Overflow& overflow : event.step(10'000)) EXPECT_FALSE(overflow.throttle);
}

TEST(Counter, IsNeverThrottled) {
    Sampling event{Kind::counters, 1};
    event.per_tick = 1;
    event.start();
    EXPECT_EQ(event.during(1000).size(), 1000u);
}

TEST(Frequency, AdaptsThePeriodToTheRequestedRate) {
    for (const Kind kind : {Kind::counters, Kind::page_faults}) {
        Sampling event{kind, 1};
        event.page.frequency = 1000;
        event.start();
        // With 1 event per unit of time, 1000 samples per second need a period of a thousandth of a second's units.
        const std::uint64_t wanted = (kind == Kind::counters ? kPaceUnitsPerSecond : kNsPerSecond) / 1000;
        for (int samples = 0; samples < 200;)
            samples += static_cast<int>(event.step(event.page.period < 2000 ? 1 : 997).size());
        EXPECT_THAT(event.page.period, AllOf(Gt(wanted * 9 / 10), Lt(wanted * 11 / 10)));
    }
}

TEST(Frequency, OfACounterDoesNotDependOnWhatTheThreadDidBefore) {
    const auto periods_after = [](std::uint64_t instructions) {
        EventPage page{};
        page.source.kind = Kind::counters;
        page.state = EventState::counting;
        page.sampling = 1;
        page.period = page.overflow_at = 1;
        page.frequency = 4000;
        std::vector<std::uint64_t> periods;
        for (std::uint64_t value = 1; periods.size() < 8; ++value) {
            if (!overflow_due(page, value)) continue;
            take_overflow(page, value, (instructions + value) * kPaceUnitsPerNs / 4, 0);
            periods.push_back(page.period);
        }
        return periods;
    };
    const std::vector<std::uint64_t> periods = periods_after(100);
    EXPECT_EQ(periods[1], 125'001u) << "an eighth of the way to a million";
    for (const std::uint64_t before : {101u, 102u, 103u}) EXPECT_EQ(periods_after(before), periods);
}

TEST(Frequency, StartsWithPeriodOneWhichTheSampleReports) {
    Sampling event{Kind::page_faults, 1};
    event.page.frequency = 1000;
    event.page.shape.sample_type = abi::sample("PERF_SAMPLE_PERIOD");
    event.start();
    EXPECT_EQ(event.step().front().period, 1u);
}

TEST(Frequency, IsWhatIocPeriodSets) {
    Sampling event{Kind::counters, 1};
    event.page.frequency = 1000;
    change_period(event.page, event.value, 4000);
    EXPECT_EQ(event.page.frequency, 4000u);
    EXPECT_EQ(event.page.period, 1u);
}

TEST(PeriodForAFrequency, IsCountTimesASecondDividedByTimeTimesFrequency) {
    EXPECT_EQ(period_for(1000, 500, 1'000'000), 500u);
    EXPECT_EQ(period_for(4000, 1'000'000, 1'000'000'000), 250u);
    EXPECT_EQ(period_for(1000, 0, 5), 1u);
    EXPECT_EQ(period_for(1000, 7, 0), 7u);
    EXPECT_EQ(period_for(1, ~0ull >> 1, 1), ~0ull >> 1) << "bit 63 stays clear";
}

}  // namespace
}  // namespace anyperf::subsystem
