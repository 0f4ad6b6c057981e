// open_failure_table_test.cpp: causes on machines that aren't here, with a kernel that the test plays.
#include <gmock/gmock.h>

#include <cerrno>

#include "host/open_failure.h"
#include "support/machine_files.h"

namespace anyperf::host {
namespace {

using testing::HasSubstr;

/// Answers what the test wants; a null attr EFAULT, as a kernel that serves the call.
struct PlayedKernel : Kernel {
    int try_open(const OpenCall&) const override { return 0; }
    int try_null_attr() const override { return EFAULT; }
    std::uint32_t attr_size() const override { return 136; }
};

class EveryErrno : public testing::TestWithParam<int> {};

TEST_P(EveryErrno, HasWhatCauseAndNoRawNumber) {
    MachineFiles files;
    const Error error = why_open_failed(OpenCall{}, GetParam(), "cycles", files.root(), PlayedKernel{});
    EXPECT_THAT(error.what, HasSubstr("cannot open cycles (perf_event_open: E"));
    EXPECT_FALSE(error.cause.empty());
    EXPECT_EQ(error.exit_status, 125);
    // The manual's ERRORS, every one of which has rows of its own.
    EXPECT_THAT(error.cause, testing::Not(HasSubstr("doesn't list")));
}

INSTANTIATE_TEST_SUITE_P(OfTheManual, EveryErrno,
                         testing::Values(E2BIG, EACCES, EBADF, EBUSY, EFAULT, EINTR, EINVAL, EMFILE, ENODEV, ENOENT,
                                         ENOSPC, ENOSYS, EOPNOTSUPP, EOVERFLOW, EPERM, ESRCH));

TEST(OpenFailureElsewhere, AnOfflineCpuIsComparedWithThoseOnline) {
    MachineFiles files;
    files.file("/sys/devices/system/cpu/online", "0-2,4").file("/sys/devices/system/cpu/possible", "0-7");
    OpenCall call;
    call.cpu = 3;
    EXPECT_THAT(why_open_failed(call, ENODEV, "cycles", files.root(), PlayedKernel{}).cause,
                HasSubstr("CPU 3 is offline: those online are 0-2,4"));
}

TEST(OpenFailureElsewhere, ACorePmuCountsOnItsOwnCpus) {
    MachineFiles files;
    files.file("/sys/devices/system/cpu/online", "0-7").file("/sys/bus/event_source/devices/cpu_atom/type", "10");
    files.file("/sys/bus/event_source/devices/cpu_atom/cpus", "4-7");
    OpenCall call;
    call.attr.type = 10;
    call.cpu = 1;
    EXPECT_THAT(why_open_failed(call, ENODEV, "cpu_atom/cycles/", files.root(), PlayedKernel{}).cause,
                HasSubstr("cpu_atom counts on the CPUs 4-7 only, not on 1"));
}

TEST(OpenFailureElsewhere, AnUncorePmuDoesNotFollowProcesses) {
    MachineFiles files;
    files.file("/sys/bus/event_source/devices/uncore_imc_0/type", "20");
    files.file("/sys/bus/event_source/devices/uncore_imc_0/cpumask", "0");
    OpenCall call;
    call.attr.type = 20;
    EXPECT_THAT(why_open_failed(call, EINVAL, "uncore_imc_0/clockticks/", files.root(), PlayedKernel{}).cause,
                HasSubstr("for the whole machine, not for a process"));
}

TEST(OpenFailureElsewhere, AKernelWithoutPerfEventsHasNoSetting) {
    MachineFiles files;
    files.file("/proc/sys/kernel/osrelease", "6.1.0");
    EXPECT_THAT(why_open_failed(OpenCall{}, ENOSYS, "cycles", files.root(), PlayedKernel{}).cause,
                HasSubstr("built without performance events"));
}

TEST(OpenFailureElsewhere, LockdownForbidsRegistersOfTheInterrupt) {
    MachineFiles files;
    files.file("/sys/kernel/security/lockdown", "none integrity [confidentiality]");
    OpenCall call;
    call.attr.sample_type = 1 << 18;
    EXPECT_THAT(why_open_failed(call, EPERM, "cycles", files.root(), PlayedKernel{}).cause, HasSubstr("locked down"));
}

TEST(OpenFailureElsewhere, WhatIsRuledOutIsSaid) {
    MachineFiles files;
    EXPECT_THAT(why_open_failed(OpenCall{}, EMFILE, "cycles", files.root(), PlayedKernel{}).cause,
                HasSubstr("looked at and found in order: RLIMIT_NOFILE"));
}

TEST(OpenFailureElsewhere, AKernelModeEventIsNotToldToCountUserMode) {
    MachineFiles files;
    files.file("/proc/sys/kernel/perf_event_paranoid", "2").file("/proc/self/status", "Uid:\t5\t5\t5\t5");
    OpenCall call;
    call.attr.flags = 1 << 4;  // exclude_user
    EXPECT_THAT(why_open_failed(call, EACCES, "cycles:k", files.root(), PlayedKernel{}).fix,
                testing::Not(HasSubstr("count user mode only")));
}

/// The machine of somebody who may measure nothing but his own processes in user mode.
std::string fix_for_nobody(const OpenCall& call, std::string_view event) {
    MachineFiles files;
    files.file("/proc/sys/kernel/perf_event_paranoid", "2").file("/proc/self/status", "Uid:\t5\t5\t5\t5");
    return why_open_failed(call, EACCES, event, files.root(), PlayedKernel{}).fix;
}

TEST(OpenFailureElsewhere, WhatHappensInTheKernelAloneIsNotToldToCountUserMode) {
    OpenCall call;
    call.attr.type = 1;
    call.attr.config = 3;
    EXPECT_THAT(fix_for_nobody(call, "cs"), testing::Not(HasSubstr("cs:u")));
    call.attr.config = 2;
    EXPECT_THAT(fix_for_nobody(call, "faults"), HasSubstr("faults:u"));
    call.attr.type = 2;
    EXPECT_THAT(fix_for_nobody(call, "sched:sched_switch"), testing::Not(HasSubstr("sched_switch:u")));
    EXPECT_THAT(fix_for_nobody(call, "raw_syscalls:sys_enter"), HasSubstr("raw_syscalls:sys_enter:u"));
}

TEST(OpenFailureElsewhere, AWholeCpuIsNotToldToCountUserMode) {
    OpenCall call;
    call.pid = -1;
    call.cpu = 0;
    const std::string fix = fix_for_nobody(call, "cycles");
    EXPECT_THAT(fix, testing::Not(HasSubstr("cycles:u")));
    EXPECT_THAT(fix, HasSubstr("perf_event_paranoid=0"));
}

}  // namespace
}  // namespace anyperf::host
