// open_rules_test.cpp: what perf_event_open(2) refuses, and in which order, as measured on Linux 6.18.
#include "abi/branch_types.h"
#include "unit/subsystem/fixture.h"

namespace anyperf::subsystem {
namespace {

using abi::sample;

/// A change that makes a valid attr invalid, and the errno that it gives.
struct Mistake {
    std::string name;
    std::function<void(Attr&)> make;
    int error;
};

std::vector<Mistake> mistakes() {
    const auto flags = [](std::uint64_t more) { return [more](Attr& a) { a.flags |= more; }; };
    const auto samples = [](std::uint64_t type) { return [type](Attr& a) { a.sample_type = type; }; };
    return {
        {"UndefinedFlagBit", flags(1ull << 38), EINVAL},
        {"Reserved2", [](Attr& a) { a.reserved_2 = 1; }, EINVAL},
        {"AuxActionBit3", [](Attr& a) { a.aux_action = 8; }, EINVAL},
        {"SampleTypeBit25", samples(1ull << 25), EINVAL},
        {"ReadFormatBit5", [](Attr& a) { a.read_format = 32; }, EINVAL},
        {"BothWeights", samples(sample("PERF_SAMPLE_WEIGHT") | sample("PERF_SAMPLE_WEIGHT_STRUCT")), EINVAL},
        {"BranchStackWithoutABranch", samples(sample("PERF_SAMPLE_BRANCH_STACK")), EINVAL},
        {"BranchBit20",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_BRANCH_STACK");
             a.branch_sample_type = 1u << 20 | 8;
         },
         EINVAL},
        {"KernelBranches",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_BRANCH_STACK");
             a.branch_sample_type = 2 | 8;
         },
         EACCES},
        {"EmptyRegisterMask", samples(sample("PERF_SAMPLE_REGS_USER")), EINVAL},
        {"RegisterDs",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_REGS_USER");
             a.sample_regs_user = 1 << 12;
         },
         EINVAL},
        {"RegisterBit24",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_REGS_INTR");
             a.sample_regs_intr = 1 << 24;
         },
         EINVAL},
        {"VectorRegisters", [](Attr& a) { a.sample_regs_user = 1ull << 32; }, EOPNOTSUPP},
        {"StackNotAMultipleOf8",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_STACK_USER");
             a.sample_stack_user = 12;
         },
         EINVAL},
        {"StackTooLarge",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_STACK_USER");
             a.sample_stack_user = 65536;
         },
         EINVAL},
        {"StackTooDeep",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_CALLCHAIN");
             a.sample_max_stack = 128;
         },
         EOVERFLOW},
        {"StackTooDeepWithABadClock",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_CALLCHAIN");
             a.sample_max_stack = 128;
             a.flags |= flag("use_clockid");
             a.clockid = 99;
         },
         EOVERFLOW},
        {"CpuTimeClock",
         [](Attr& a) {
             a.flags |= flag("use_clockid");
             a.clockid = 2;
         },
         EINVAL},
        {"SigtrapWithoutRemoveOnExec", flags(flag("sigtrap")), EINVAL},
        {"RemoveAndEnableOnExec", flags(flag("remove_on_exec") | flag("enable_on_exec")), EINVAL},
        {"InheritThreadWithoutInherit", flags(flag("inherit_thread")), EINVAL},
        {"InheritedReadWithoutTid",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_READ");
             a.flags |= flag("inherit");
         },
         EINVAL},
        {"PeriodBit63", [](Attr& a) { a.sample_period = 1ull << 63; }, EINVAL},
        {"FrequencyTooHigh",
         [](Attr& a) {
             a.sample_period = 100'001;
             a.flags |= flag("freq");
         },
         EINVAL},
        {"AuxOutput", flags(flag("aux_output")), EOPNOTSUPP},
        {"AuxStartPaused", [](Attr& a) { a.aux_action = 1; }, EOPNOTSUPP},
        {"AuxPauseAndResumeWithStackTooDeep",
         [](Attr& a) {
             a.aux_action = 6;
             a.sample_type = sample("PERF_SAMPLE_CALLCHAIN");
             a.sample_max_stack = 128;
         },
         EINVAL},
        {"AuxPause", [](Attr& a) { a.aux_action = 2; }, EINVAL},
        {"AuxSample",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_AUX");
             a.aux_sample_size = 64;
         },
         EINVAL},
        {"AuxSampleSizeAlone", [](Attr& a) { a.aux_sample_size = 64; }, EINVAL},
        {"KernelMode", [](Attr& a) { a.flags &= ~kUserOnly; }, EACCES},
        {"Namespaces", flags(flag("namespaces")), EACCES},
        {"PhysicalAddresses", samples(sample("PERF_SAMPLE_PHYS_ADDR")), EACCES},
        {"UnknownType", [](Attr& a) { a.type = 77; }, ENOENT},
        {"UnknownSoftwareEvent", [](Attr& a) { a.type = 1, a.config = 12; }, ENOENT},
        {"UnknownTypeWithStackTooDeep",
         [](Attr& a) {
             a.type = 77;
             a.sample_type = sample("PERF_SAMPLE_CALLCHAIN");
             a.sample_max_stack = 500;
         },
         ENOENT},
        {"SoftwareEventWithBranches",
         [](Attr& a) {
             a.type = 1;
             a.sample_type = sample("PERF_SAMPLE_BRANCH_STACK");
             a.branch_sample_type = 1 | 8;
         },
         EOPNOTSUPP},
    };
}

class RefusedOpen : public SubsystemTest, public testing::WithParamInterface<Mistake> {};

TEST_P(RefusedOpen, HasItsErrnoAndLeavesNothing) {
    Attr attr = counting();
    GetParam().make(attr);
    EXPECT_THAT(try_open(attr), RefusedWith(GetParam().error));
    EXPECT_EQ(host.pages(), 0);
    EXPECT_TRUE(cpu.held.empty());
}
INSTANTIATE_TEST_SUITE_P(All, RefusedOpen, testing::ValuesIn(mistakes()),
                         [](const auto& test) { return test.param.name; });

/// A change that leaves a valid attr valid.
struct ValidCase {
    std::string name;
    std::function<void(Attr&)> make;
};

std::vector<ValidCase> accepted() {
    const auto flags = [](std::uint64_t more) { return [more](Attr& a) { a.flags |= more; }; };
    return {
        {"LongestPeriod", [](Attr& a) { a.sample_period = (1ull << 63) - 1; }},
        {"FrequencyOfZero", flags(flag("freq"))},
        {"HighestFrequency",
         [](Attr& a) {
             a.sample_period = 100'000;
             a.flags |= flag("freq");
         }},
        {"StackOf65528",
         [](Attr& a) {
             a.sample_type = sample("PERF_SAMPLE_STACK_USER");
             a.sample_stack_user = 65528;
         }},
        {"StackDepthWithoutCallchain", [](Attr& a) { a.sample_max_stack = 999; }},
        {"ClockidWithoutItsFlag", [](Attr& a) { a.clockid = 99; }},
        {"ClockTai",
         [](Attr& a) {
             a.flags |= flag("use_clockid");
             a.clockid = 11;
         }},
        {"BranchFilterWithoutBranchStack", [](Attr& a) { a.branch_sample_type = ~0ull; }},
        {"SigtrapInherited", flags(flag("sigtrap") | flag("remove_on_exec") | flag("inherit"))},
        {"InheritedGroupRead",
         [](Attr& a) {
             a.flags |= flag("inherit");
             a.read_format = read_format("PERF_FORMAT_GROUP");
         }},
        {"PinnedAndExclusive", flags(flag("pinned") | flag("exclusive"))},
        {"EveryRecordBitButNamespaces",
         flags(flag("mmap") | flag("comm") | flag("task") | flag("mmap_data") | flag("mmap2") | flag("comm_exec") |
               flag("context_switch") | flag("ksymbol") | flag("bpf_event") | flag("cgroup") | flag("text_poke") |
               flag("build_id") | flag("write_backward") | flag("inherit_stat") | flag("watermark"))},
        {"AuxSampleOfSizeZero", [](Attr& a) { a.sample_type = sample("PERF_SAMPLE_AUX"); }},
    };
}

class ValidOpen : public SubsystemTest, public testing::WithParamInterface<ValidCase> {};
TEST_P(ValidOpen, Succeeds) {
    Attr attr = counting();
    GetParam().make(attr);
    EXPECT_THAT(try_open(attr), Succeeds());
}
INSTANTIATE_TEST_SUITE_P(All, ValidOpen, testing::ValuesIn(accepted()),
                         [](const auto& test) { return test.param.name; });

/// The checks of an open in the order of the kernel's. A call that fails this step and all later ones is answered with
/// the errno of this step.
class OpenOrder : public SubsystemTest {
  protected:
    enum Step : std::uint8_t {
        flags_bit,
        attr_unreadable,
        attr_content,
        kernel_refused,
        frequency,
        no_descriptor,
        bad_group,
        no_task,
        bad_cpu,
        unknown_type,
        no_right,
        steps
    };
    static constexpr std::array kErrors{EINVAL, EFAULT, EINVAL, EACCES, EINVAL, EMFILE,
                                        EBADF,  ESRCH,  EINVAL, ENOENT, EACCES};

    /// The errno of a call that fails the steps from `from` on.
    int first_error(int from) {
        host.start(200);
        host.forbidden = {200};
        Attr attr = counting();
        OpenRequest request{.caller = me.name, .pid = 200};
        if (from <= no_right) request.pid = 200;
        if (from <= unknown_type) attr.type = 77;
        if (from <= bad_cpu) request.cpu = 2;
        if (from <= no_task) request.pid = 999;
        if (from <= bad_group) request.group = {.none = false};
        if (from <= no_descriptor) request.descriptor_free = false;
        if (from <= frequency) attr.flags |= flag("freq"), attr.sample_period = 1'000'000;
        if (from <= kernel_refused) attr.flags &= ~kUserOnly;
        if (from <= attr_content) attr.read_format = 1 << 10;
        request.attr = std::as_bytes(std::span(&attr, 1));
        if (from <= attr_unreadable) request.attr = {};
        if (from <= flags_bit) request.flags = 16;
        const auto event = subsystem.open(request);
        return event ? 0 : event.error().error;
    }
};

TEST_F(OpenOrder, ReportsTheFirstMistake) {
    for (int step = 0; step < steps; ++step)
        EXPECT_EQ(first_error(step), kErrors.at(static_cast<std::size_t>(step))) << "step " << step;
    EXPECT_EQ(host.pages(), 0);
}

class OpenTarget : public SubsystemTest {};

TEST_F(OpenTarget, OfPidAndCpuMinusOneIsEinval) {
    host.caller.perfmon = true;
    EXPECT_THAT(try_open(counting(), {.pid = -1, .cpu = -1}), RefusedWith(EINVAL));
}
TEST_F(OpenTarget, OnACpuThatDoesNotExistIsEinval) {
    EXPECT_THAT(try_open(counting(), {.cpu = 2}), RefusedWith(EINVAL));
    EXPECT_THAT(try_open(counting(), {.cpu = -2}), RefusedWith(EINVAL));
}
TEST_F(OpenTarget, OfANegativePidIsEsrch) {
    EXPECT_THAT(try_open(counting(), {.pid = -2}), RefusedWith(ESRCH));
}
TEST_F(OpenTarget, OutsideTheRunIsEsrchIfTheCallerMayMeasureItElseEacces) {
    host.outsiders = {7, 8};
    host.forbidden = {8};
    EXPECT_THAT(try_open(counting(), {.pid = 7}), RefusedWith(ESRCH));
    EXPECT_THAT(try_open(counting(), {.pid = 8}), RefusedWith(EACCES));
    host.caller.perfmon = true;
    EXPECT_THAT(try_open(counting(), {.pid = 8}), RefusedWith(ESRCH));
}
TEST_F(OpenTarget, OfACgroupNeedsAPidAndACpu) {
    const auto cgroup = abi::bit(abi::kOpenFlags, "PERF_FLAG_PID_CGROUP");
    EXPECT_THAT(try_open(counting(), {.pid = -1, .cpu = 0, .flags = cgroup}), RefusedWith(EINVAL));
    EXPECT_THAT(try_open(counting(), {.pid = 3, .cpu = -1, .flags = cgroup}), RefusedWith(EINVAL));
    EXPECT_THAT(try_open(counting(), {.pid = 3, .cpu = 0, .flags = cgroup}), RefusedWith(EBADF));
}
TEST_F(OpenTarget, WithoutRoomForAnEventPageIsEnomem) {
    host.room_for_events = 0;
    EXPECT_THAT(try_open(counting()), RefusedWith(ENOMEM));
}

class OpenRights : public SubsystemTest {
  protected:
    Attr with_kernel() {
        Attr attr = counting();
        attr.flags &= ~kUserOnly;
        return attr;
    }
};

TEST_F(OpenRights, AtLevelTwoExcludeTheKernelAndCpus) {
    EXPECT_THAT(try_open(with_kernel()), RefusedWith(EACCES));
    EXPECT_THAT(try_open(counting(), {.pid = -1, .cpu = 0}), RefusedWith(EACCES));
    EXPECT_THAT(try_open(counting(), {.cpu = 0}), Succeeds()) << "the caller's own task on one CPU is allowed";
}
TEST_F(OpenRights, AreAskedForOnceAndOnlyIfTheyDecide) {
    EXPECT_THAT(try_open(counting()), Succeeds());
    EXPECT_EQ(host.credential_looks, 0u);
    host.caller.perfmon = true;
    EXPECT_THAT(try_open(with_kernel(), {.pid = -1, .cpu = 0}), Succeeds());
    EXPECT_EQ(host.credential_looks, 1u);
}
TEST_F(OpenRights, AtLevelOneIncludeTheKernel) {
    host.limits_now.paranoid = 1;
    EXPECT_THAT(try_open(with_kernel()), Succeeds());
    EXPECT_THAT(try_open(counting(), {.pid = -1, .cpu = 0}), RefusedWith(EACCES));
}
TEST_F(OpenRights, AtLevelZeroIncludeCpusToo) {
    host.limits_now.paranoid = 0;
    EXPECT_THAT(try_open(counting(), {.pid = -1, .cpu = 0}), Succeeds());
}
TEST_F(OpenRights, WithCapPerfmonAreThoseOfRoot) {
    host.caller.perfmon = true;
    host.limits_now.paranoid = 3;
    EXPECT_THAT(try_open(with_kernel(), {.pid = -1, .cpu = 1}), Succeeds());
}
TEST_F(OpenRights, OfRootWithoutCapabilitiesAreThoseOfAnyUser) {
    host.caller.uid = 0;
    EXPECT_THAT(try_open(with_kernel()), RefusedWith(EACCES));
}
TEST_F(OpenRights, DoNotIncludeAnotherUsersTask) {
    host.start(200);
    host.start(201);
    host.forbidden = {200};
    EXPECT_THAT(try_open(counting(), {.pid = 200}), RefusedWith(EACCES));
    EXPECT_THAT(try_open(counting(), {.pid = 201}), Succeeds());
}

}  // namespace
}  // namespace anyperf::subsystem
