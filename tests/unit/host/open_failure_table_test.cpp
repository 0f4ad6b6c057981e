// open_failure_table_test.cpp: the causes that are found for a failed open, on machines made of files and with a fake
// kernel.
#include <gmock/gmock.h>

#include <cerrno>

#include "host/open_failure.h"
#include "host/usability.h"
#include "support/machine_files.h"

namespace anyperf::host {
namespace {

using testing::HasSubstr;

/// Accepts every open, and answers a null attr with EFAULT, as a kernel does that no filter shields.
struct FakeKernel : Kernel {
    int try_open(const OpenCall&) const override { return 0; }
    int try_null_attr() const override { return EFAULT; }
    std::uint32_t attr_size() const override { return 136; }
};

class EveryErrno : public testing::TestWithParam<int> {};

TEST_P(EveryErrno, HasAMessageAndASpecificCause) {
    MachineFiles files;
    const Error error = why_open_failed(OpenCall{}, GetParam(), "cycles", files.root(), FakeKernel{});
    EXPECT_THAT(error.what, HasSubstr("cannot open cycles (perf_event_open: E"));
    EXPECT_FALSE(error.cause.empty());
    EXPECT_EQ(error.exit_status, 125);
    // Each errno in ERRORS of perf_event_open(2) has rows of its own in the table.
    EXPECT_THAT(error.cause, testing::Not(HasSubstr("does not document")));
}

INSTANTIATE_TEST_SUITE_P(InTheManual, EveryErrno,
                         testing::Values(E2BIG, EACCES, EBADF, EBUSY, EFAULT, EINTR, EINVAL, EMFILE, ENODEV, ENOENT,
                                         ENOSPC, ENOSYS, EOPNOTSUPP, EOVERFLOW, EPERM, ESRCH));

TEST(OpenFailure, OnAnOfflineCpuListsTheOnlineCpus) {
    MachineFiles files;
    files.file("/sys/devices/system/cpu/online", "0-2,4").file("/sys/devices/system/cpu/possible", "0-7");
    OpenCall call;
    call.cpu = 3;
    EXPECT_THAT(why_open_failed(call, ENODEV, "cycles", files.root(), FakeKernel{}).cause,
                HasSubstr("CPU 3 is offline; the online CPUs are 0-2,4"));
}

TEST(OpenFailure, OnACpuOfAnotherCorePmuListsThePmusOwnCpus) {
    MachineFiles files;
    files.file("/sys/devices/system/cpu/online", "0-7").file("/sys/bus/event_source/devices/cpu_atom/type", "10");
    files.file("/sys/bus/event_source/devices/cpu_atom/cpus", "4-7");
    OpenCall call;
    call.attr.type = 10;
    call.cpu = 1;
    EXPECT_THAT(why_open_failed(call, ENODEV, "cpu_atom/cycles/", files.root(), FakeKernel{}).cause,
                HasSubstr("cpu_atom counts on the CPUs 4-7 only, not on 1"));
}

TEST(OpenFailure, OfAnUncoreEventOnAProcessNamesTheReason) {
    MachineFiles files;
    files.file("/sys/bus/event_source/devices/uncore_imc_0/type", "20");
    files.file("/sys/bus/event_source/devices/uncore_imc_0/cpumask", "0");
    OpenCall call;
    call.attr.type = 20;
    EXPECT_THAT(why_open_failed(call, EINVAL, "uncore_imc_0/clockticks/", files.root(), FakeKernel{}).cause,
                HasSubstr("for the whole machine, not for a process"));
}

TEST(OpenFailure, OfArmsSpeOnAProcessDoesNotBlameItsCpumask) {
    MachineFiles files;
    files.file("/sys/bus/event_source/devices/arm_spe_0/type", "20");
    files.file("/sys/bus/event_source/devices/arm_spe_0/cpumask", "0-3");
    OpenCall call;
    call.attr.type = 20;
    EXPECT_THAT(why_open_failed(call, EINVAL, "arm_spe_0//", files.root(), FakeKernel{}).cause,
                testing::Not(HasSubstr("for the whole machine")));
    call.cpu = 5;
    EXPECT_THAT(why_open_failed(call, ENODEV, "arm_spe_0//", files.root(), FakeKernel{}).cause,
                HasSubstr("counts on the CPUs 0-3 only"));
}

TEST(Usability, OfAnEventThatIsRefusedWithEfaultIsNotBlocked) {
    struct RefusesThePointer : FakeKernel {
        int try_open(const OpenCall&) const override { return EFAULT; }
    };
    OpenCall call;
    call.attr.type = 1;
    call.attr.flags = 1 << 5;  // exclude_kernel
    EXPECT_NE(usability(call, "probe", Root{}, RefusesThePointer{}).use, Use::blocked);
}

TEST(OpenFailure, OnAKernelWithoutPerfEventsNamesTheReason) {
    MachineFiles files;
    files.file("/proc/sys/kernel/osrelease", "6.1.0");
    EXPECT_THAT(why_open_failed(OpenCall{}, ENOSYS, "cycles", files.root(), FakeKernel{}).cause,
                HasSubstr("built without performance events"));
}

TEST(OpenFailure, OfInterruptRegistersUnderLockdownNamesTheReason) {
    MachineFiles files;
    files.file("/sys/kernel/security/lockdown", "none integrity [confidentiality]");
    OpenCall call;
    call.attr.sample_type = 1 << 18;
    EXPECT_THAT(why_open_failed(call, EPERM, "cycles", files.root(), FakeKernel{}).cause, HasSubstr("locked down"));
}

TEST(OpenFailure, WithoutACauseListsWhatWasRuledOut) {
    MachineFiles files;
    EXPECT_THAT(why_open_failed(OpenCall{}, EMFILE, "cycles", files.root(), FakeKernel{}).cause,
                HasSubstr("these were checked and ruled out: RLIMIT_NOFILE"));
}

TEST(OpenFailure, OfAKernelModeEventDoesNotSuggestUserMode) {
    MachineFiles files;
    files.file("/proc/sys/kernel/perf_event_paranoid", "2").file("/proc/self/status", "Uid:\t5\t5\t5\t5");
    OpenCall call;
    call.attr.flags = 1 << 4;  // exclude_user
    EXPECT_THAT(why_open_failed(call, EACCES, "cycles:k", files.root(), FakeKernel{}).fix,
                testing::Not(HasSubstr("count user mode only")));
}

/// The fix that is suggested for EACCES to a user who may measure only their own processes in user mode.
std::string fix_for_ordinary_user(const OpenCall& call, std::string_view event) {
    MachineFiles files;
    files.file("/proc/sys/kernel/perf_event_paranoid", "2").file("/proc/self/status", "Uid:\t5\t5\t5\t5");
    return why_open_failed(call, EACCES, event, files.root(), FakeKernel{}).fix;
}

TEST(OpenFailure, OfAnEventThatHappensOnlyInTheKernelDoesNotSuggestUserMode) {
    OpenCall call;
    call.attr.type = 1;
    call.attr.config = 3;
    EXPECT_THAT(fix_for_ordinary_user(call, "cs"), testing::Not(HasSubstr("cs:u")));
    call.attr.config = 2;
    EXPECT_THAT(fix_for_ordinary_user(call, "faults"), HasSubstr("faults:u"));
    call.attr.type = 2;
    EXPECT_THAT(fix_for_ordinary_user(call, "sched:sched_switch"), testing::Not(HasSubstr("sched_switch:u")));
    EXPECT_THAT(fix_for_ordinary_user(call, "raw_syscalls:sys_enter"), testing::Not(HasSubstr("sys_enter:u")));
    EXPECT_THAT(fix_for_ordinary_user(call, "syscalls:sys_enter_read"), HasSubstr("syscalls:sys_enter_read:u"));
}

TEST(OpenFailure, OfACpuWideEventDoesNotSuggestUserMode) {
    OpenCall call;
    call.pid = -1;
    call.cpu = 0;
    const std::string fix = fix_for_ordinary_user(call, "cycles");
    EXPECT_THAT(fix, testing::Not(HasSubstr("cycles:u")));
    EXPECT_THAT(fix, HasSubstr("perf_event_paranoid=0"));
}

}  // namespace
}  // namespace anyperf::host
