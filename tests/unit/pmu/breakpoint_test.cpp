// What the breakpoint PMU accepts, in the order of Linux 6.18's refusals, and how slots are shared.
#include "pmu/breakpoint.h"

#include <gtest/gtest.h>

#include "unit/pmu/asked.h"

namespace anyperf::pmu {
namespace {

using subsystem::Source;
using testing::asked;
using testing::RefusedWith;

constexpr std::uint64_t kUserOnly = abi::flag("exclude_kernel");

abi::Attr watch(std::uint32_t type, std::uint64_t address = 0x1000, std::uint64_t length = 8) {
    return {.type = abi::kTypeBreakpoint, .flags = kUserOnly, .bp_type = type, .config1 = address, .config2 = length};
}

/// Asked for a task, or for a CPU (tid -1).
subsystem::Answer<subsystem::Wiring> asked_by(BreakpointPmu& pmu, subsystem::EventIndex event, std::int32_t tid,
                                              std::int32_t cpu = -1) {
    const subsystem::TaskName task{.thread_page = 1, .pid = tid, .tid = tid};
    const abi::Attr attr = watch(2);
    return pmu.init({.attr = attr,
                     .event = event,
                     .task = tid >= 0 ? &task : nullptr,
                     .opener = task,
                     .privileged = false,
                     .inherited = false,
                     .cpu = cpu});
}

TEST(Breakpoints, WatchStoresAccessesAndExecutions) {
    for (const std::uint32_t type : {2u, 3u, 4u}) {
        BreakpointPmu pmu;
        const auto wiring = asked(pmu, watch(type));
        ASSERT_TRUE(wiring) << type;
        EXPECT_EQ(wiring->source.kind, Source::Kind::happenings);
        EXPECT_TRUE(wiring->software);
    }
}

TEST(Breakpoints, AreRefusedAsByX86) {
    BreakpointPmu pmu;
    EXPECT_THAT(asked(pmu, {.type = abi::kTypeRaw}), RefusedWith(ENOENT));
    for (const std::uint32_t type : {0u, 1u, 5u, 6u, 7u, 8u}) EXPECT_THAT(asked(pmu, watch(type)), RefusedWith(EINVAL));
    for (const std::uint64_t length : {0u, 3u, 16u}) EXPECT_THAT(asked(pmu, watch(2, 0, length)), RefusedWith(EINVAL));
    EXPECT_THAT(asked(pmu, watch(4, 0x1000, 4)), RefusedWith(EINVAL)) << "an X breakpoint is as long as a long";
    EXPECT_THAT(asked(pmu, watch(2, 0x1004, 8)), RefusedWith(EINVAL)) << "not aligned";
    EXPECT_THAT(asked(pmu, watch(2, 0x7ffffffff000)), RefusedWith(EINVAL)) << "beyond user memory";
    EXPECT_TRUE(asked(pmu, watch(4, 0x1003)));
}

TEST(Breakpoints, HaveFourSlotsATask) {
    BreakpointPmu pmu;
    for (subsystem::EventIndex event = 1; event <= 4; ++event) ASSERT_TRUE(asked_by(pmu, event, 10));
    EXPECT_THAT(asked_by(pmu, 5, 10), RefusedWith(ENOSPC));
    EXPECT_THAT(asked_by(pmu, 5, -1, 0), RefusedWith(ENOSPC)) << "a CPU's stands in each of its tasks";
    EXPECT_TRUE(asked_by(pmu, 6, 11)) << "another task has its own";
    pmu.destroy(2);
    EXPECT_TRUE(asked_by(pmu, 5, 10));
}

TEST(Breakpoints, OfATaskTakeASlotOfTheirCpuAlone) {
    BreakpointPmu pmu;
    for (const std::int32_t cpu : {0, 1, 0, 1}) ASSERT_TRUE(asked_by(pmu, static_cast<unsigned>(cpu) + 1, 10, cpu));
    ASSERT_TRUE(asked_by(pmu, 5, 10)) << "two of each CPU are free";
    ASSERT_TRUE(asked_by(pmu, 6, 10));
    EXPECT_THAT(asked_by(pmu, 7, 10, 1), RefusedWith(ENOSPC));
    EXPECT_THAT(asked_by(pmu, 7, 10), RefusedWith(ENOSPC));
    EXPECT_TRUE(asked_by(pmu, 7, 10, 2)) << "a third CPU has two left";
}

TEST(Breakpoints, OfOneCpuLeaveOtherCpusAlone) {
    BreakpointPmu pmu;
    for (subsystem::EventIndex event = 1; event <= 4; ++event) ASSERT_TRUE(asked_by(pmu, event, -1, 0));
    EXPECT_THAT(asked_by(pmu, 5, 10), RefusedWith(ENOSPC));
    EXPECT_TRUE(asked_by(pmu, 5, -1, 1));
}

TEST(Breakpoints, MayBeMovedAndNothingElse) {
    BreakpointPmu pmu;
    abi::Attr attr = watch(2);
    EXPECT_TRUE(pmu.modify(1, attr, watch(3, 0x2000, 4)));
    EXPECT_EQ(attr, watch(3, 0x2000, 4));
    abi::Attr other = attr;
    other.sample_period = 7;
    EXPECT_THAT(pmu.modify(1, attr, other), RefusedWith(EINVAL));
    EXPECT_THAT(pmu.modify(1, attr, watch(3, 0x2001, 4)), RefusedWith(EINVAL));
    EXPECT_EQ(attr, watch(3, 0x2000, 4)) << "a refusal changes nothing";
}

}  // namespace
}  // namespace anyperf::pmu
