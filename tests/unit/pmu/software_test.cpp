// software_test.cpp: which events the software PMU accepts and how it counts them. The refusals are those of
// Linux 6.18.
#include "pmu/software_pmu.h"
#include "subsystem/shared/counter_sum.h"

#include <gtest/gtest.h>

#include "unit/pmu/pmu_request.h"

namespace anyperf::pmu {
namespace {

using Kind = subsystem::Source::Kind;
using testing::asked;
using testing::RefusedWith;

abi::Attr software(std::uint64_t config, std::uint64_t flags = 0) {
    return {.type = abi::kTypeSoftware, .config = config, .flags = flags};
}

TEST(SoftwareEvents, OpenForConfigs0To11) {
    SoftwarePmu pmu;
    for (std::uint64_t config = 0; config < 12; ++config) {
        const auto wiring = asked(pmu, software(config));
        ASSERT_TRUE(wiring) << config;
        EXPECT_TRUE(wiring->software);
        EXPECT_EQ(wiring->counters, 0u);
    }
    EXPECT_THAT(asked(pmu, software(12)), RefusedWith(ENOENT));
    EXPECT_THAT(asked(pmu, software(1ull << 32)), RefusedWith(ENOENT));
    EXPECT_THAT(asked(pmu, {.type = 0, .config = 1}), RefusedWith(ENOENT)) << "another type";
}

TEST(SoftwareEvents, HaveNoBranchStack) {
    SoftwarePmu pmu;
    abi::Attr attr = software(0);
    attr.sample_type = abi::sample("PERF_SAMPLE_BRANCH_STACK");
    EXPECT_THAT(asked(pmu, attr), RefusedWith(EOPNOTSUPP));
    attr.config = 12;
    EXPECT_THAT(asked(pmu, attr), RefusedWith(EOPNOTSUPP)) << "Linux 6.18 refuses this before it looks at config";
}

TEST(Clocks, OfATaskCountRunningTimeOnly) {
    SoftwarePmu pmu;
    for (const std::uint64_t config : {0, 1}) {
        EXPECT_EQ(asked(pmu, software(config))->source.kind, Kind::task_clock);
        EXPECT_FALSE(asked(pmu, software(config))->counts_cpu);
    }
}

TEST(Clocks, OfADeterministicRunCountInstructions) {
    SoftwarePmu pmu{{.run_clock = true}};
    for (const std::uint64_t config : {0, 1}) {
        const auto wiring = asked(pmu, software(config), false);
        ASSERT_TRUE(wiring);
        EXPECT_EQ(wiring->source.kind, Kind::counters);
        const std::uint64_t retired[] = {4003};
        EXPECT_EQ(subsystem::counter_sum(wiring->source, retired), 1000u) << "four in a nanosecond";
        EXPECT_FALSE(wiring->counts_cpu);
    }
    EXPECT_EQ(asked(pmu, software(2))->source.kind, Kind::page_faults);
}

TEST(Clocks, OfACpuCountTheTimeOfTheCpu) {
    SoftwarePmu pmu;
    for (const std::uint64_t config : {0, 1}) {
        EXPECT_EQ(asked(pmu, software(config), false)->source.kind, Kind::cpu_clock);
        EXPECT_TRUE(asked(pmu, software(config), false)->counts_cpu);
    }
    EXPECT_FALSE(asked(pmu, software(2), false)->counts_cpu);
}

TEST(Clocks, TurnAFrequencyIntoAPeriod) {
    SoftwarePmu pmu;
    abi::Attr attr = software(0, abi::flag("freq"));
    attr.sample_period = 4000;
    EXPECT_EQ(asked(pmu, attr)->fixed_period, 250'000u);
    attr.config = 2;
    EXPECT_EQ(asked(pmu, attr)->fixed_period, 0u) << "the period of page faults adapts instead";
    attr = software(0, abi::flag("freq"));
    EXPECT_EQ(asked(pmu, attr)->fixed_period, 0u) << "it does not sample";
}

TEST(Clocks, IgnoreExcludeBits) {
    SoftwarePmu pmu;
    const auto all = abi::flag("exclude_user") | abi::flag("exclude_kernel") | abi::flag("exclude_idle");
    EXPECT_EQ(asked(pmu, software(1, all))->source.kind, Kind::task_clock);
}

TEST(ContextSwitches, WithoutKernelModeAreNotCounted) {
    SoftwarePmu pmu;
    EXPECT_EQ(asked(pmu, software(3))->source.kind, Kind::context_switches);
    EXPECT_EQ(asked(pmu, software(3, abi::flag("exclude_kernel")))->source.kind, Kind::nothing);
}

TEST(PageFaults, AreCountedWithoutKernelMode) {
    SoftwarePmu pmu;
    EXPECT_EQ(asked(pmu, software(2, abi::flag("exclude_kernel")))->source.kind, Kind::page_faults);
    EXPECT_EQ(asked(pmu, software(5))->source.kind, Kind::minor_faults);
    EXPECT_EQ(asked(pmu, software(6))->source.kind, Kind::major_faults);
}

TEST(OtherSoftwareEvents, CountNothing) {
    SoftwarePmu pmu;
    for (const std::uint64_t config : {7, 8, 9, 10, 11})
        EXPECT_EQ(asked(pmu, software(config))->source.kind, Kind::nothing) << config;
}

}  // namespace
}  // namespace anyperf::pmu
