// tracing.cpp: tracepoints, breakpoints and probes.
#include <fmt/format.h>
#include <unistd.h>

#include "host/findings/finders.h"

namespace anyperf::host::findings_of {

namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices/";

bool has_pmu(const Facts& facts, std::string_view name) {
    return facts.root.exists(std::string{kDevices} + std::string{name});
}

std::string mounted_tracefs(const Facts& facts) {
    for (const std::string_view place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
        if (facts.root.exists(std::string{place} + "/events")) return std::string{place};
    return {};
}

bool readable(const Facts& facts, const std::string& directory) {
    return ::access(facts.root.path(directory).c_str(), R_OK | X_OK) == 0;
}

}  // namespace

Found tracefs(const Facts& facts) {
    if (!has_pmu(facts, "tracepoint") && facts.root.exists(kDevices))
        return Finding{"tracefs",
                       "the kernel has no tracepoints",
                       fmt::format("{}tracepoint is not there", kDevices),
                       "tracepoint events can't be opened",
                       "boot a kernel built with CONFIG_EVENT_TRACING=y",
                       Severity::limits};
    const std::string place = mounted_tracefs(facts);
    if (!place.empty() && readable(facts, place + "/events"))
        return Finding{
            "tracefs",   "tracepoints can be looked up by name", place + "/events is there and readable", "", "",
            Severity::ok};
    constexpr std::string_view kMount = "as root: mount -t tracefs tracefs /sys/kernel/tracing";
    // Where it isn't mounted, and where a parent directory is closed to us, it looks the same: root's 0700.
    const bool closed =
        ::access(facts.root.path("/sys/kernel/tracing").c_str(), X_OK) != 0 && facts.root.exists("/sys/kernel/tracing");
    if (!place.empty() || closed)
        return Finding{"tracefs",
                       "tracepoints can't be looked up by name: tracefs is closed to this process",
                       fmt::format("{} is there, but not readable", place.empty() ? "/sys/kernel/tracing" : place),
                       "tracepoints (sched:sched_switch) have no number here, so they can't be opened",
                       "as root: mount -o remount,mode=755 /sys/kernel/tracing; or run as root",
                       Severity::limits};
    return Finding{"tracefs",
                   "tracepoints can't be looked up by name: tracefs is not mounted",
                   "neither /sys/kernel/tracing/events nor /sys/kernel/debug/tracing/events is there",
                   "tracepoints (sched:sched_switch) have no number here, so they can't be opened",
                   std::string{kMount},
                   Severity::limits};
}

Found breakpoints(const Facts& facts) {
    if (!facts.root.exists(kDevices)) return {};
    if (has_pmu(facts, "breakpoint"))
        return Finding{"breakpoints",
                       "breakpoints and watchpoints (mem:ADDRESS:rw) are there",
                       fmt::format("{}breakpoint", kDevices),
                       "",
                       "",
                       Severity::ok};
    return Finding{"breakpoints",
                   "no breakpoints",
                   fmt::format("{}breakpoint is not there", kDevices),
                   "mem: events can't be opened",
                   "",
                   Severity::limits};
}

Found probes(const Facts& facts) {
    if (!facts.root.exists(kDevices)) return {};
    const bool user = has_pmu(facts, "uprobe"), kernel = has_pmu(facts, "kprobe");
    const std::string evidence =
        fmt::format("{}uprobe is {}there, kprobe is {}there", kDevices, user ? "" : "not ", kernel ? "" : "not ");
    if (!user && !kernel)
        return Finding{"probes",
                       "no probes",
                       evidence,
                       "uprobe and kprobe events can't be opened",
                       "boot a kernel built with CONFIG_UPROBE_EVENTS, CONFIG_KPROBE_EVENTS",
                       Severity::note};
    const std::string title = user && kernel ? "uprobes and kprobes are there"
                              : user         ? "uprobes are there, kprobes are not"
                                             : "kprobes are there, uprobes are not";
    if (facts.privileges.perfmon()) return Finding{"probes", title, evidence, "", "", Severity::ok};
    return Finding{"probes",
                   title + ", for CAP_PERFMON only",
                   evidence + "; " + describe(facts.privileges),
                   "opening a probe is refused (EACCES), whatever the paranoid level",
                   "run as root or with the capability",
                   Severity::limits};
}

}  // namespace anyperf::host::findings_of
