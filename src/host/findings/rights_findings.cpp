// rights_findings.cpp: findings about what this process may measure: the paranoid level, its capabilities, other users'
// processes and kernel addresses. See Documentation/admin-guide/perf-security.rst.
#include <fmt/format.h>

#include <array>

#include "host/findings/finders.h"
#include "host/kernel/sysctl.h"
#include "host/process/gain_rights.h"
#include "host/process/process_status.h"

namespace anyperf::host::findings_of {

namespace {

struct NamedCapability {
    Capability capability;
    std::string_view name;
};

/// The capabilities that matter for performance events, in the order shown.
constexpr std::array kCapabilities{
    NamedCapability{Capability::perfmon, "CAP_PERFMON"},
    NamedCapability{Capability::sys_admin, "CAP_SYS_ADMIN"},
    NamedCapability{Capability::sys_ptrace, "CAP_SYS_PTRACE"},
    NamedCapability{Capability::ipc_lock, "CAP_IPC_LOCK"},
};

}  // namespace

// Each level allows what the levels above it allow and one thing more, so one sentence for each is enough. Levels above
// 2 are Debian's and Ubuntu's own.
Found paranoid(const Facts& facts) {
    const auto level = facts.privileges.paranoid;
    if (!level) return {};
    Finding finding{"paranoid",
                    "",
                    fmt::format("/proc/sys/kernel/perf_event_paranoid is {}; {}", *level, describe(facts.privileges)),
                    "",
                    "",
                    Severity::ok};
    if (!facts.privileges.known || facts.privileges.has_perfmon() || *level <= -1) {
        finding.title = fmt::format("perf_event_paranoid is {}; {}: this process may measure everything", *level,
                                    describe(facts.privileges));
        return finding;
    }
    finding.fix = how_to_gain_rights(facts.privileges, facts.container, 1) +
                  "; level 0 also allows whole CPUs, -1 tracepoint data";
    finding.severity = Severity::limits;
    if (*level <= 0) {
        finding.title = "perf_event_paranoid is 0: this process may measure everything except tracepoint data";
        finding.effect = "samples can't carry the data of tracepoints (EPERM)";
    } else if (*level == 1) {
        finding.title = "perf_event_paranoid is 1: this process may measure processes, not whole CPUs";
        finding.effect = "system-wide measurement (-a, -C, -G) is refused (EACCES), as is tracepoint data (EPERM)";
    } else {
        finding.title = fmt::format(
            "perf_event_paranoid is {}: this process may measure its own processes, in user mode only", *level);
        finding.effect =
            "events that count kernel mode too are refused (EACCES) unless they have the modifier u, as is "
            "system-wide measurement (-a, -C, -G)";
        if (*level > 2) finding.effect += "; at this level Debian's and Ubuntu's kernels refuse every event to users";
    }
    return finding;
}

Found capabilities(const Facts& facts) {
    const auto status = process_status(facts.root, "self");
    if (!status)
        return Finding{"capabilities",
                       "the capabilities of this process can't be read",
                       "/proc/self/status can't be read",
                       "this process is treated as one without capabilities",
                       facts.root.is_this_machine() ? "mount /proc" : "copy /proc/self/status, too",
                       Severity::note};
    std::string held, lacking;
    for (const NamedCapability& row : kCapabilities) {
        if (row.capability == Capability::perfmon && !facts.privileges.kernel_knows_perfmon) continue;
        std::string& list = facts.privileges.has(row.capability) ? held : lacking;
        list += fmt::format("{}{}", list.empty() ? "" : ", ", row.name);
    }
    const std::string evidence =
        fmt::format("/proc/self/status: Uid {}, CapEff {:016x}", status->effective_uid, status->effective);
    if (lacking.empty()) return Finding{"capabilities", "this process has " + held, evidence, "", "", Severity::ok};
    const std::string title = held.empty() ? "this process has no capability that matters for events"
                                           : fmt::format("this process has {}, not {}", held, lacking);
    return Finding{"capabilities", title, evidence, "", "", Severity::note};
}

// Since Linux 5.9 CAP_PERFMON allows it (commit 45fd22da97c6); before, CAP_SYS_PTRACE was required. Yama restricts only
// attaching to a process, and perf_event_open needs the right to attach only for attr.sigtrap.
Found other_processes(const Facts& facts) {
    if (facts.privileges.has_perfmon() || facts.privileges.has(Capability::sys_ptrace)) return {};
    const auto yama = number_in(facts.root, "/proc/sys/kernel/yama/ptrace_scope");
    return Finding{
        "other-processes",
        fmt::format("only processes of uid {} can be measured", facts.privileges.effective_uid),
        fmt::format("neither CAP_PERFMON nor CAP_SYS_PTRACE{}",
                    yama ? fmt::format("; kernel.yama.ptrace_scope is {}, which limits attr.sigtrap only", *yama) : ""),
        "-p with another user's process, or with one that isn't dumpable, is refused (EACCES)",
        "measure as the user of that process, or with one of these capabilities",
        Severity::note};
}

// Level 1 hides the addresses from processes without CAP_SYSLOG, level 2 from all (kptr_restrict in
// Documentation/admin-guide/sysctl/kernel.rst). Privileges does not read CAP_SYSLOG; CAP_PERFMON is taken for it.
Found kernel_addresses(const Facts& facts) {
    const auto restrict_level = kernel_setting(facts.root, "kptr_restrict");
    if (!restrict_level) return {};
    const bool hidden = *restrict_level >= 2 || (*restrict_level == 1 && !facts.privileges.has_perfmon());
    Finding finding{"kernel-addresses",
                    "addresses of kernel functions can be read",
                    fmt::format("kernel.kptr_restrict is {}", *restrict_level),
                    "",
                    "",
                    Severity::ok};
    if (!hidden) return finding;
    finding.title = "addresses of kernel functions are hidden";
    finding.effect = "samples in the kernel are shown as addresses, without function names";
    finding.fix = "as root: sysctl kernel.kptr_restrict=0";
    finding.severity = Severity::note;
    return finding;
}

}  // namespace anyperf::host::findings_of
