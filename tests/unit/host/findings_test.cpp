// findings_test.cpp: what is found on machines made of a few files.
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

TEST(Findings, AGuestWithoutAPmuIsToldHowItsHypervisorGivesOne) {
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

TEST(Findings, TheNmiWatchdogHoldsACounter) {
    MachineFiles files;
    files.file(std::string{kDevices} + "cpu/type", "4").file("/proc/sys/kernel/nmi_watchdog", "1");
    const auto found = finding(files, "counters");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::note);
    EXPECT_EQ(found->fix, "as root: sysctl kernel.nmi_watchdog=0");
}

TEST(Findings, AKernelWithoutPerfEventsBlocksEverything) {
    MachineFiles files;
    files.file("/proc/sys/kernel/osrelease", "6.1.0-tiny");
    const auto found = finding(files, "kernel");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::blocks);
    EXPECT_THAT(found->title, HasSubstr("6.1.0-tiny was built without performance events"));
}

TEST(Findings, LockdownForConfidentialityLimits) {
    MachineFiles files;
    files.file("/sys/kernel/security/lockdown", "none integrity [confidentiality]");
    const auto found = finding(files, "lockdown");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::limits);
}

TEST(Findings, ASampleRateThatTheKernelLoweredIsSeen) {
    MachineFiles files;
    files.file("/proc/sys/kernel/perf_event_max_sample_rate", "1000");
    const auto found = finding(files, "sample-rate");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::limits);
    EXPECT_THAT(found->evidence, HasSubstr("is 1000"));
}

TEST(Findings, EachThatTakesSomethingAwayHasAnEffectAndEvidence) {
    for (const Finding& found : findings(Root{"/nonexistent"})) {
        EXPECT_FALSE(found.evidence.empty()) << found.id;
        const bool harmless = found.severity == Severity::ok || found.severity == Severity::note;
        EXPECT_TRUE(harmless || !found.effect.empty()) << found.id;
    }
}

TEST(Findings, OfThisMachineHaveIdsOfTheirOwn) {
    std::vector<std::string> ids;
    for (const Finding& found : findings(Root{})) ids.push_back(found.id);
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
    EXPECT_GT(ids.size(), 8);
}

}  // namespace
}  // namespace anyperf::host
