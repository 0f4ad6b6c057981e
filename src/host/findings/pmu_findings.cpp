// pmu_findings.cpp: findings about PMUs: the hardware PMU, the hypervisor that may hide it, how many counters it has,
// whether other processes use them, and the other PMUs.
//
// A missing hardware PMU has several possible reasons. CPUID (or /proc/cpuinfo) says whether the processor has
// counters, sysfs whether the kernel uses them, and a line of the kernel log why not; the finding shows all three.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/causes/pmu_names.h"
#include "host/findings/finders.h"
#include "host/hardware/cpu_counters.h"
#include "host/kernel/kernel_log.h"
#include "host/kernel/sysctl.h"
#include "host/process/event_holders.h"

namespace anyperf::host::findings_of {

namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices";

/// Two pieces of evidence as one; `more` may be empty.
std::string joined(const std::string& evidence, const std::string& more) {
    return more.empty() ? evidence : evidence + "; " + more;
}

/// A PMU with the files of its caps/, such as "cpu (max_precise 3, pmu_name skylake)".
std::string with_capabilities(const Root& root, const std::string& pmu) {
    std::string caps;
    const std::string directory = std::string{kDevices} + "/" + pmu + "/caps";
    for (const std::string& name : root.list(directory))
        caps += fmt::format("{}{} {}", caps.empty() ? "" : ", ", name, root.read(directory + "/" + name).value_or("?"));
    return caps.empty() ? pmu : fmt::format("{} ({})", pmu, caps);
}

/// The finding of a machine without a hardware PMU. The fix depends on what hides it.
Finding no_pmu(const Facts& facts, std::string evidence) {
    Finding finding{"hardware-pmu",
                    "no hardware PMU: cycles, instructions, branches and caches can't be counted",
                    std::move(evidence),
                    "hardware, cache and raw events fail with ENOENT (perf: <not supported>)",
                    "",
                    Severity::blocks};
    const CpuCounters counters = cpu_counters(facts.root);
    if (facts.hypervisor.present)
        finding.fix = facts.hypervisor.kind != nullptr ? std::string{facts.hypervisor.kind->expose_pmu}
                                                       : "let the hypervisor expose a virtual PMU to this guest";
    else if (counters.known && counters.present)
        finding.fix =
            "the processor has counters that the kernel doesn't use: look in the kernel log (dmesg | grep Performance) "
            "and for nolapic on the kernel's command line";
    else
        finding.fix = "look for a PMU setting in the firmware; if this is a virtual machine, in the hypervisor";
    return finding;
}

}  // namespace

Found hypervisor(const Facts& facts) {
    if (!facts.root.exists("/proc/cpuinfo") && !facts.hypervisor.present) return {};
    if (!facts.hypervisor.present)
        return Finding{"hypervisor",
                       "no sign of a hypervisor",
                       "no hypervisor flag in /proc/cpuinfo, no hypervisor in DMI",
                       "",
                       "",
                       Severity::ok};
    return Finding{"hypervisor",
                   fmt::format("a virtual machine under {}", facts.hypervisor.name()),
                   facts.hypervisor.evidence,
                   "the hypervisor decides whether there are hardware counters",
                   "",
                   Severity::note};
}

Found hardware_pmu(const Facts& facts) {
    if (!facts.root.exists(kDevices))
        return Finding{"hardware-pmu",
                       "PMUs can't be searched for",
                       fmt::format("{} can't be read", kDevices),
                       "only events whose type is a fixed number can be opened",
                       facts.root.is_this_machine() ? "mount sysfs on /sys" : fmt::format("copy {}, too", kDevices),
                       Severity::limits};
    const std::string log = kernel_log_line(facts.root, "Performance Events:");
    const std::string said = log.empty() ? "" : "kernel log: '" + log + "'";
    const CpuCounters counters = cpu_counters(facts.root);
    if (facts.core_pmus.empty())
        return no_pmu(facts, joined(joined(fmt::format("{} has no cpu", kDevices), counters.evidence), said));
    std::vector<std::string> shown;
    shown.reserve(facts.core_pmus.size());
    for (const std::string& pmu : facts.core_pmus) shown.push_back(with_capabilities(facts.root, pmu));
    return Finding{"hardware-pmu",
                   fmt::format("hardware counters: {}", fmt::join(shown, ", ")),
                   joined(joined(fmt::format("{}/{}", kDevices, facts.core_pmus.front()), counters.evidence), said),
                   "",
                   "",
                   Severity::ok};
}

// The watchdog counts cycles with one counter of each CPU for as long as it is on.
Found counters(const Facts& facts) {
    const auto watchdog = kernel_setting(facts.root, "nmi_watchdog");
    const std::string setting =
        watchdog ? fmt::format("kernel.nmi_watchdog is {}", *watchdog) : "kernel.nmi_watchdog can't be read";
    if (facts.core_pmus.empty())
        return Finding{"counters",  "no hardware counters, so the NMI watchdog holds none", setting, "", "",
                       Severity::ok};
    const CpuCounters has = cpu_counters(facts.root);
    const std::string count =
        has.general > 0 ? fmt::format("{} programmable{} counters per thread ({})", has.general,
                                      has.fixed > 0 ? fmt::format(" and {} fixed", has.fixed) : "", has.evidence)
                        : "the processor does not report its number of counters";
    if (watchdog != 1)
        return Finding{"counters",  "no counter is held by the NMI watchdog", setting + "; " + count, "", "",
                       Severity::ok};
    return Finding{"counters",
                   "the NMI watchdog holds a counter",
                   setting + "; " + count,
                   "groups have room for one event fewer, and multiplexing begins earlier",
                   "as root: sysctl kernel.nmi_watchdog=0",
                   Severity::note};
}

// The file allows rdpmc never (0), while the process has an event mapped (1, the default), or always (2):
// Documentation/ABI/testing/sysfs-bus-event_source-devices-rdpmc.
Found user_space_reads(const Facts& facts) {
    if (facts.core_pmus.empty()) return {};
    const std::string file = fmt::format("{}/{}/rdpmc", kDevices, facts.core_pmus.front());
    const auto value = number_in(facts.root, file);
    if (!value) return {};
    Finding finding{
        "rdpmc",     "counters can be read without a system call", fmt::format("{} is {}", file, *value), "", "",
        Severity::ok};
    if (*value != 0) return finding;
    finding.title = "counters can't be read without a system call";
    finding.effect = "reads take a system call instead of rdpmc";
    finding.fix = fmt::format("as root: echo 1 > {}", file);
    finding.severity = Severity::note;
    return finding;
}

Found other_pmus(const Facts& facts) {
    std::string names;
    for (const std::string& name : facts.root.list(kDevices)) {
        if (std::ranges::find(facts.core_pmus, name) != facts.core_pmus.end()) continue;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    if (names.empty()) return {};
    return Finding{"other-pmus", "other PMUs: " + names, std::string{kDevices}, "", "", Severity::ok};
}

// Descriptors of other users' processes are visible only with CAP_SYS_PTRACE, so the evidence says which processes were
// searched.
Found holders(const Facts& facts) {
    if (!facts.is_live()) return {};
    const std::string others = describe(event_holders(facts.root));
    const std::string seen = facts.privileges.has(Capability::sys_ptrace) ? "all processes" : "own processes only";
    if (others.empty())
        return Finding{"holders",   "no other process has events open", fmt::format("/proc/*/fd of {}", seen), "", "",
                       Severity::ok};
    return Finding{"holders",
                   "other processes have events open: " + others,
                   fmt::format("/proc/*/fd of {}", seen),
                   "events share the counters: values may be scaled",
                   "",
                   Severity::note};
}

}  // namespace anyperf::host::findings_of
