// findings_test.cpp: the findings of `explain` on machines made of a few files.
#include "host/findings.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "support/machine_files.h"

namespace anyperf::host {
namespace {

using testing::HasSubstr;

constexpr std::string_view kDevices = "/sys/bus/event_source/devices/";

std::optional<Finding> finding(const MachineFiles& files, std::string_view id) {
    const auto all = findings(files.root());
    const auto found = std::ranges::find(all, id, &Finding::id);
    return found == all.end() ? std::nullopt : std::optional{*found};
}

TEST(Findings, ForAGuestWithoutAPmuNameTheHypervisorsSetting) {
    MachineFiles files;
    files.file("/sys/bus/event_source/devices/software/type", "1")
        .file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lm\n")
        .file("/sys/class/dmi/id/sys_vendor", "VMware, Inc.")
        .file("/var/log/dmesg",
              "[    0.3] Performance Events: unsupported p6 CPU model 85 no PMU driver, software events only.");
    const auto found = finding(files, "hardware-pmu");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::blocks);
    EXPECT_THAT(found->evidence, HasSubstr("no PMU driver, software events only."));
    EXPECT_THAT(found->fix, HasSubstr("Virtualize CPU performance counters"));
}

TEST(Findings, ReportTheCounterHeldByTheNmiWatchdog) {
    MachineFiles files;
    files.file(std::string{kDevices} + "cpu/type", "4").file("/proc/sys/kernel/nmi_watchdog", "1");
    const auto found = finding(files, "counters");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::note);
    EXPECT_EQ(found->fix, "as root: sysctl kernel.nmi_watchdog=0");
}

TEST(Findings, ReportAKernelWithoutPerfEventsAsBlocking) {
    MachineFiles files;
    files.file("/proc/sys/kernel/osrelease", "6.1.0-tiny");
    const auto found = finding(files, "kernel");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::blocks);
    EXPECT_THAT(found->title, HasSubstr("6.1.0-tiny was built without performance events"));
}

TEST(Findings, ReportLockdownForConfidentialityAsALimit) {
    MachineFiles files;
    files.file("/sys/kernel/security/lockdown", "none integrity [confidentiality]");
    const auto found = finding(files, "lockdown");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::limits);
}

TEST(Findings, OfALockedDownKernelAgreeAboutTracefsAndKprobes) {
    MachineFiles files;
    files.file("/sys/kernel/security/lockdown", "none integrity [confidentiality]")
        .file("/proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n")
        .file("/sys/kernel/tracing/events/sched/sched_switch/id", "1");
    for (const std::string_view pmu : {"tracepoint", "uprobe", "kprobe"})
        files.file(std::string{kDevices} + std::string{pmu} + "/type", "1");
    for (const std::string_view id : {"lockdown", "tracefs", "probes"}) {
        const auto found = finding(files, id);
        ASSERT_TRUE(found) << id;
        EXPECT_EQ(found->severity, Severity::limits) << id;
        EXPECT_EQ(found->fix, "boot with lockdown=integrity or none") << id;
    }
}

TEST(Findings, ReportASampleRateThatTheKernelLowered) {
    MachineFiles files;
    files.file("/proc/sys/kernel/perf_event_max_sample_rate", "1000");
    const auto found = finding(files, "sample-rate");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::limits);
    EXPECT_THAT(found->evidence, HasSubstr("is 1000"));
}

TEST(Findings, HaveEvidenceAndUnlessHarmlessAnEffect) {
    for (const Finding& found : findings(Root{"/nonexistent"})) {
        EXPECT_FALSE(found.evidence.empty()) << found.id;
        const bool harmless = found.severity == Severity::ok || found.severity == Severity::note;
        EXPECT_TRUE(harmless || !found.effect.empty()) << found.id;
    }
}

TEST(Findings, OfThisMachineHaveUniqueIds) {
    std::vector<std::string> ids;
    for (const Finding& found : findings(Root{})) ids.push_back(found.id);
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
    EXPECT_GT(ids.size(), 8);
}

}  // namespace
}  // namespace anyperf::host
