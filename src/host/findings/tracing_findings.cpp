// tracing_findings.cpp: findings about tracepoints, breakpoints and probes: whether the kernel has the PMU, and whether
// names of tracepoints can be resolved (their numbers are in files of tracefs).
#include <fmt/format.h>
#include <unistd.h>

#include "host/findings/finders.h"
#include "host/kernel/sysctl.h"

namespace anyperf::host::findings_of {

namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices/";

bool has_pmu(const Facts& facts, std::string_view name) {
    return facts.root.exists(std::string{kDevices} + std::string{name});
}

/// Where tracefs is mounted with its events visible; empty if nowhere.
std::string mounted_tracefs(const Facts& facts) {
    for (const std::string_view place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
        if (facts.root.exists(std::string{place} + "/events")) return std::string{place};
    return {};
}

bool readable(const Facts& facts, const std::string& directory) {
    return ::access(facts.root.path(directory).c_str(), R_OK | X_OK) == 0;
}

}  // namespace

// A tracepoint is opened by its number, which is only in tracefs. So a machine may have tracepoints that only root can
// name. The order of the checks is: does the kernel have tracepoints, is it locked down (of a copy only), is tracefs
// readable, is it mounted.
Found tracefs(const Facts& facts) {
    if (!has_pmu(facts, "tracepoint") && facts.root.exists(kDevices))
        return Finding{"tracefs",
                       "the kernel has no tracepoints",
                       fmt::format("{}tracepoint does not exist", kDevices),
                       "tracepoint events can't be opened",
                       "boot a kernel built with CONFIG_EVENT_TRACING=y",
                       Severity::limits};
    const std::string place = mounted_tracefs(facts);
    const bool is_readable = !place.empty() && readable(facts, place + "/events");
    // A copy may have the files of another boot. Files that are here now were made before the kernel was locked down.
    if (locked_down(facts.root) && (!facts.is_live() || !is_readable))
        return Finding{"tracefs",
                       "tracepoints can't be looked up by name: the kernel is locked down",
                       "/sys/kernel/security/lockdown has [confidentiality]",
                       "tracepoints (sched:sched_switch) can't be opened: their numbers are in tracefs",
                       "boot with lockdown=integrity or none",
                       Severity::limits};
    if (is_readable)
        return Finding{
            "tracefs",   "tracepoints can be looked up by name", place + "/events exists and is readable", "", "",
            Severity::ok};
    constexpr std::string_view kMount = "as root: mount -t tracefs tracefs /sys/kernel/tracing";
    // /sys/kernel/tracing usually has mode 0700: then its contents can't be seen, mounted or not.
    const bool closed =
        ::access(facts.root.path("/sys/kernel/tracing").c_str(), X_OK) != 0 && facts.root.exists("/sys/kernel/tracing");
    if (!place.empty() || closed)
        return Finding{"tracefs",
                       "tracepoints can't be looked up by name: tracefs is closed to this process",
                       fmt::format("{} exists, but is not readable", place.empty() ? "/sys/kernel/tracing" : place),
                       "tracepoints (sched:sched_switch) can't be opened: their numbers are in tracefs",
                       "as root: mount -o remount,mode=755 /sys/kernel/tracing; or run as root",
                       Severity::limits};
    return Finding{"tracefs",
                   "tracepoints can't be looked up by name: tracefs is not mounted",
                   "neither /sys/kernel/tracing/events nor /sys/kernel/debug/tracing/events exists",
                   "tracepoints (sched:sched_switch) can't be opened: their numbers are in tracefs",
                   std::string{kMount},
                   Severity::limits};
}

Found breakpoints(const Facts& facts) {
    if (!facts.root.exists(kDevices)) return {};
    if (has_pmu(facts, "breakpoint"))
        return Finding{"breakpoints",
                       "breakpoints and watchpoints (mem:ADDRESS:rw) are available",
                       fmt::format("{}breakpoint", kDevices),
                       "",
                       "",
                       Severity::ok};
    return Finding{"breakpoints",
                   "no breakpoints",
                   fmt::format("{}breakpoint does not exist", kDevices),
                   "mem: events can't be opened",
                   "",
                   Severity::limits};
}

// The PMUs uprobe and kprobe are in sysfs since Linux 4.17. Both need CAP_PERFMON whatever the paranoid level is.
Found probes(const Facts& facts) {
    if (!facts.root.exists(kDevices)) return {};
    const bool user = has_pmu(facts, "uprobe"), kernel = has_pmu(facts, "kprobe");
    const std::string evidence = fmt::format("{}uprobe {}, kprobe {}", kDevices, user ? "exists" : "does not exist",
                                             kernel ? "exists" : "does not exist");
    if (!user && !kernel)
        return Finding{"probes",
                       "no probes",
                       evidence,
                       "uprobe and kprobe events can't be opened",
                       "boot a kernel built with CONFIG_UPROBE_EVENTS, CONFIG_KPROBE_EVENTS",
                       Severity::note};
    const std::string title = user && kernel ? "uprobes and kprobes are available"
                              : user         ? "uprobes are available, kprobes are not"
                                             : "kprobes are available, uprobes are not";
    if (kernel && locked_down(facts.root))
        return Finding{"probes",
                       user ? "uprobes are available, kprobes are refused: the kernel is locked down"
                            : "kprobes are refused: the kernel is locked down",
                       evidence + "; /sys/kernel/security/lockdown has [confidentiality]",
                       "opening a kprobe is refused (EPERM)",
                       "boot with lockdown=integrity or none",
                       Severity::limits};
    if (facts.privileges.has_perfmon()) return Finding{"probes", title, evidence, "", "", Severity::ok};
    return Finding{"probes",
                   title + ", with CAP_PERFMON only",
                   evidence + "; " + describe(facts.privileges),
                   "opening a probe is refused (EACCES) at every paranoid level",
                   "run as root or with the capability",
                   Severity::limits};
}

}  // namespace anyperf::host::findings_of
