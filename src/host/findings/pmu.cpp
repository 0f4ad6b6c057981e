// pmu.cpp: the hardware PMU, what hides it, and who else uses its counters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/causes/pmus.h"
#include "host/cpu_counters.h"
#include "host/event_holders.h"
#include "host/findings/finders.h"
#include "host/kernel_log.h"
#include "host/sysctl.h"

namespace anyperf::host::findings_of {

namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices";

std::string with(const std::string& evidence, const std::string& more) {
    return more.empty() ? evidence : evidence + "; " + more;
}

/// `cpu` with what its caps/ tell: "cpu (pmu_name skylake, max_precise 3)".
std::string with_capabilities(const Root& root, const std::string& pmu) {
    std::string caps;
    const std::string directory = std::string{kDevices} + "/" + pmu + "/caps";
    for (const std::string& name : root.list(directory))
        caps += fmt::format("{}{} {}", caps.empty() ? "" : ", ", name, root.read(directory + "/" + name).value_or("?"));
    return caps.empty() ? pmu : fmt::format("{} ({})", pmu, caps);
}

Finding no_pmu(const Facts& facts, std::string evidence) {
    Finding finding{"hardware-pmu",
                    "no hardware PMU: cycles, instructions, branches and caches can't be counted",
                    std::move(evidence),
                    "hardware, cache and raw events answer ENOENT (perf: <not supported>)",
                    "",
                    Severity::blocks};
    const CpuCounters counters = cpu_counters(facts.root);
    if (facts.hypervisor.present)
        finding.fix = facts.hypervisor.kind != nullptr ? std::string{facts.hypervisor.kind->expose_pmu}
                                                       : "let the hypervisor expose a virtual PMU to this guest";
    else if (counters.known && counters.present)
        finding.fix =
            "the processor has counters that the kernel doesn't use: look at its log (dmesg | grep Performance) "
            "and for nolapic on its command line";
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
                       "PMUs can't be looked for",
                       fmt::format("{} can't be read", kDevices),
                       "only events that the kernel names can be opened",
                       "mount sysfs on /sys",
                       Severity::limits};
    const std::string log = kernel_log_line(facts.root, "Performance Events:");
    const std::string said = log.empty() ? "" : "the kernel's log: '" + log + "'";
    const CpuCounters counters = cpu_counters(facts.root);
    if (facts.core_pmus.empty())
        return no_pmu(facts, with(with(fmt::format("{} has no cpu", kDevices), counters.evidence), said));
    std::vector<std::string> shown;
    shown.reserve(facts.core_pmus.size());
    for (const std::string& pmu : facts.core_pmus) shown.push_back(with_capabilities(facts.root, pmu));
    return Finding{"hardware-pmu",
                   fmt::format("hardware counters: {}", fmt::join(shown, ", ")),
                   with(with(fmt::format("{}/{}", kDevices, facts.core_pmus.front()), counters.evidence), said),
                   "",
                   "",
                   Severity::ok};
}

Found counters(const Facts& facts) {
    const auto watchdog = kernel_setting(facts.root, "nmi_watchdog");
    const std::string setting =
        watchdog ? fmt::format("kernel.nmi_watchdog is {}", *watchdog) : "kernel.nmi_watchdog can't be read";
    if (facts.core_pmus.empty())
        return Finding{"counters",  "no hardware counters, so the NMI watchdog holds none", setting, "", "",
                       Severity::ok};
    const CpuCounters has = cpu_counters(facts.root);
    const std::string count =
        has.general > 0 ? fmt::format("{} programmable{} counters a thread ({})", has.general,
                                      has.fixed > 0 ? fmt::format(" and {} fixed", has.fixed) : "", has.evidence)
                        : "how many, the processor doesn't tell";
    if (watchdog != 1)
        return Finding{"counters",  "no counter is held by the NMI watchdog", setting + "; " + count, "", "",
                       Severity::ok};
    return Finding{"counters",
                   "the NMI watchdog holds a counter",
                   setting + "; " + count,
                   "groups have room for one event less, and multiplexing starts earlier",
                   "as root: sysctl kernel.nmi_watchdog=0",
                   Severity::note};
}

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

Found holders(const Facts& facts) {
    if (!facts.live()) return {};
    const std::string others = describe(event_holders(facts.root));
    const std::string seen = facts.privileges.has(Capability::sys_ptrace) ? "all processes" : "own processes only";
    if (others.empty())
        return Finding{"holders",   "no other process has events open", fmt::format("/proc/*/fd of {}", seen), "", "",
                       Severity::ok};
    return Finding{"holders",
                   "others have events open: " + others,
                   fmt::format("/proc/*/fd of {}", seen),
                   "events share the counters: values may be scaled",
                   "",
                   Severity::note};
}

}  // namespace anyperf::host::findings_of
