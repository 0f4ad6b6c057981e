// breakpoint_test.cpp: what the breakpoint PMU accepts, with the refusals of Linux 6.18 in their order, and how events
// share the four slots.
#include "pmu/breakpoint_pmu.h"

#include <gtest/gtest.h>

#include "unit/pmu/pmu_request.h"

namespace anyperf::pmu {
namespace {

using subsystem::Source;
using testing::asked;
using testing::RefusedWith;
using testing::rights_of;

constexpr std::uint64_t kUserOnly = abi::flag("exclude_kernel");

abi::Attr watch(std::uint32_t type, std::uint64_t address = 0x1000, std::uint64_t length = 8) {
    return {.type = abi::kTypeBreakpoint, .flags = kUserOnly, .bp_type = type, .config1 = address, .config2 = length};
}

/// The answer to an event on a task, or (`tid` -1) on a CPU.
subsystem::Answer<subsystem::Wiring> asked_for(BreakpointPmu& pmu, subsystem::EventIndex event, std::int32_t tid,
                                               std::int32_t cpu = -1) {
    const subsystem::TaskId task{.thread_page = 1, .pid = tid, .tid = tid};
    const abi::Attr attr = watch(2);
    return pmu.init({.attr = attr,
                     .event = event,
                     .task = tid >= 0 ? &task : nullptr,
                     .opener = task,
                     .rights = rights_of({}),
                     .inherited = false,
                     .cpu = cpu});
}

TEST(Breakpoints, WatchStoresAccessesAndExecutions) {
    for (const std::uint32_t type : {2u, 3u, 4u}) {
        BreakpointPmu pmu;
        const auto wiring = asked(pmu, watch(type));
        ASSERT_TRUE(wiring) << type;
        EXPECT_EQ(wiring->source.kind, Source::Kind::occurrences);
        EXPECT_TRUE(wiring->software);
    }
}

TEST(Breakpoints, ThatAreInvalidAreRefusedAsOnX86) {
    BreakpointPmu pmu;
    EXPECT_THAT(asked(pmu, {.type = abi::kTypeRaw}), RefusedWith(ENOENT));
    for (const std::uint32_t type : {0u, 1u, 5u, 6u, 7u, 8u}) EXPECT_THAT(asked(pmu, watch(type)), RefusedWith(EINVAL));
    for (const std::uint64_t length : {0u, 3u, 16u}) EXPECT_THAT(asked(pmu, watch(2, 0, length)), RefusedWith(EINVAL));
    EXPECT_THAT(asked(pmu, watch(4, 0x1000, 4)), RefusedWith(EINVAL))
        << "an execution breakpoint must have the length of a long";
    EXPECT_THAT(asked(pmu, watch(2, 0x1004, 8)), RefusedWith(EINVAL)) << "not aligned";
    EXPECT_THAT(asked(pmu, watch(2, 0x7ffffffff000)), RefusedWith(EINVAL)) << "beyond user memory";
    EXPECT_TRUE(asked(pmu, watch(4, 0x1003)));
}

TEST(Breakpoints, HaveFourSlotsPerTask) {
    BreakpointPmu pmu;
    for (subsystem::EventIndex event = 1; event <= 4; ++event) ASSERT_TRUE(asked_for(pmu, event, 10));
    EXPECT_THAT(asked_for(pmu, 5, 10), RefusedWith(ENOSPC));
    EXPECT_THAT(asked_for(pmu, 5, -1, 0), RefusedWith(ENOSPC)) << "an event on a CPU needs a slot in every task";
    EXPECT_TRUE(asked_for(pmu, 6, 11)) << "another task has its own slots";
    pmu.destroy(2);
    EXPECT_TRUE(asked_for(pmu, 5, 10));
}

TEST(Breakpoints, OfATaskOnOneCpuUseASlotOfThatCpuOnly) {
    BreakpointPmu pmu;
    for (const std::int32_t cpu : {0, 1, 0, 1}) ASSERT_TRUE(asked_for(pmu, static_cast<unsigned>(cpu) + 1, 10, cpu));
    ASSERT_TRUE(asked_for(pmu, 5, 10)) << "two slots of each CPU are free";
    ASSERT_TRUE(asked_for(pmu, 6, 10));
    EXPECT_THAT(asked_for(pmu, 7, 10, 1), RefusedWith(ENOSPC));
    EXPECT_THAT(asked_for(pmu, 7, 10), RefusedWith(ENOSPC));
    EXPECT_TRUE(asked_for(pmu, 7, 10, 2)) << "a third CPU has two left";
}

TEST(Breakpoints, OfOneCpuLeaveOtherCpusAlone) {
    BreakpointPmu pmu;
    for (subsystem::EventIndex event = 1; event <= 4; ++event) ASSERT_TRUE(asked_for(pmu, event, -1, 0));
    EXPECT_THAT(asked_for(pmu, 5, 10), RefusedWith(ENOSPC));
    EXPECT_TRUE(asked_for(pmu, 5, -1, 1));
}

TEST(Breakpoints, OnAddressesOfTheKernelNeedCapSysAdmin) {
    BreakpointPmu pmu;
    abi::Attr attr = watch(2, 0xffff'ffff'8100'0000);
    const auto ask = [&](bool may_break_kernel) {
        const subsystem::TaskId task{.thread_page = 1, .pid = 10, .tid = 10};
        return pmu.init({.attr = attr,
                         .event = 1,
                         .task = &task,
                         .opener = task,
                         .rights = rights_of({.sys_admin = may_break_kernel}),
                         .inherited = false});
    };
    EXPECT_THAT(ask(true), RefusedWith(EINVAL)) << "exclude_kernel is set";
    attr.flags = 0;
    EXPECT_THAT(ask(false), RefusedWith(EPERM));
    EXPECT_TRUE(ask(true));
    EXPECT_TRUE(pmu.modify(1, attr, attr)) << "its opener had the capability";
}

TEST(Breakpoints, AllowOnlyTypeAddressAndLengthToBeModified) {
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
