// kernel_findings.cpp: findings about the kernel: whether it has performance events at all, and which kinds it was
// built with.
#include <fmt/format.h>

#include <array>

#include "host/findings/finders.h"
#include "host/kernel/kernel_config.h"

namespace anyperf::host::findings_of {

namespace {

/// A build option without which a kind of events is missing.
struct Option {
    std::string_view name;
    std::string_view gives;  ///< the events that are missing without it
};

constexpr std::array kOptions{
    Option{"CONFIG_PERF_EVENTS", "perf_event_open"},
    Option{"CONFIG_HAVE_HW_BREAKPOINT", "breakpoint events (mem:)"},
    Option{"CONFIG_EVENT_TRACING", "tracepoints"},
    Option{"CONFIG_FTRACE_SYSCALLS", "tracepoints of each system call (syscalls:*)"},
    Option{"CONFIG_UPROBE_EVENTS", "uprobes"},
    Option{"CONFIG_KPROBE_EVENTS", "kprobes"},
    Option{"CONFIG_CGROUP_PERF", "counting a cgroup (-G)"},
    Option{"CONFIG_BPF_EVENTS", "BPF programs on events"},
};

}  // namespace

// perf_event_paranoid is the official sign of a kernel with performance events: perf_event_open(2), NOTES.
Found kernel(const Facts& facts) {
    const std::string release = facts.root.read("/proc/sys/kernel/osrelease").value_or("of unknown release");
    if (facts.privileges.paranoid)
        return Finding{"kernel",
                       fmt::format("Linux {} has performance events", release),
                       "/proc/sys/kernel/perf_event_paranoid exists",
                       "",
                       "",
                       Severity::ok};
    if (!facts.root.exists("/proc/sys/kernel"))
        return Finding{"kernel",
                       "the kernel can't be inspected",
                       "/proc/sys/kernel can't be read",
                       "every finding that needs /proc is incomplete",
                       facts.root.is_this_machine() ? "mount /proc" : "copy /proc/sys/kernel, too",
                       Severity::limits};
    return Finding{"kernel",
                   fmt::format("Linux {} was built without performance events", release),
                   "/proc/sys/kernel/perf_event_paranoid does not exist",
                   "perf_event_open answers ENOSYS: no event works",
                   "boot a kernel built with CONFIG_PERF_EVENTS=y",
                   Severity::blocks};
}

// If the configuration can't be read, the finding is only a note: the other findings don't depend on it.
Found kernel_options(const Facts& facts) {
    const KernelConfig config = kernel_config(facts.root);
    if (config.source.empty())
        return Finding{"kernel-options",
                       "the kernel's options can't be read",
                       "neither /proc/config.gz nor /boot/config-RELEASE can be read",
                       "",
                       "",
                       Severity::note};
    std::string absent, lost;
    for (const Option& option : kOptions) {
        if (config.has(option.name)) continue;
        absent += fmt::format("{}{}", absent.empty() ? "" : ", ", option.name);
        lost += fmt::format("{}{}", lost.empty() ? "" : ", ", option.gives);
    }
    if (absent.empty())
        return Finding{"kernel-options", "the kernel was built with all kinds of events", config.source, "", "",
                       Severity::ok};
    return Finding{"kernel-options",
                   "the kernel was built without some kinds of events",
                   fmt::format("{} lacks {}", config.source, absent),
                   fmt::format("missing: {}", lost),
                   "boot a kernel built with these options",
                   Severity::limits};
}

}  // namespace anyperf::host::findings_of
