// confinement_findings.cpp: findings about what confines this process: seccomp filters, containers, namespaces, kernel
// lockdown and security modules. Each may refuse perf_event_open although the kernel's own rules would allow it.
//
// Few of them can be read from a file with certainty: a seccomp filter is a program that the kernel shows to privileged
// processes only (ptrace(2), PTRACE_SECCOMP_GET_FILTER), and a container leaves only traces. So the call is tried where
// that is possible: the kernel's own code answers perf_event_open with a null attr by EFAULT, and any other answer
// comes from something in front of it.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "host/findings/finders.h"
#include "host/kernel/sysctl.h"
#include "host/process/process_status.h"

namespace anyperf::host::findings_of {

namespace {

/// What perf_event_open with a null attr did instead of answering EFAULT, for the evidence.
std::string answer(int errno_value) {
    if (errno_value == kKilledByFilter) return "kills the process that calls it";
    const char* name = ::strerrorname_np(errno_value);
    return fmt::format("answers {}, where the kernel itself answers EFAULT", name != nullptr ? name : "otherwise");
}

}  // namespace

Found seccomp(const Facts& facts) {
    const auto status = process_status(facts.root, "self");
    if (!status) return {};
    const std::string mode =
        fmt::format("/proc/self/status: seccomp mode {}{}", status->seccomp_mode,
                    status->seccomp_filters > 0
                        ? fmt::format(", {} filter{}", status->seccomp_filters, status->seccomp_filters == 1 ? "" : "s")
                        : "");
    if (!facts.is_live())
        return status->seccomp_mode == 0
                   ? Finding{"seccomp", "no seccomp filter", mode, "", "", Severity::ok}
                   : Finding{"seccomp",
                             "there is a seccomp filter; files don't show whether it allows perf_event_open",
                             mode,
                             "",
                             "run anyperf explain on that machine",
                             Severity::note};
    // In a child: a filter may kill the caller. EFAULT is the kernel's own answer; 0 means that fork failed.
    const int found = null_attr_in_child(facts.kernel);
    if (found == EFAULT || found == 0)
        return Finding{
            "seccomp",
            status->seccomp_mode == 0 ? "no seccomp filter blocks perf_event_open"
            : found == 0              ? "there is a seccomp filter; it is not known whether it allows perf_event_open"
                                      : "the seccomp filter allows perf_event_open",
            mode + (found == 0 ? "; not tried: fork failed" : "; perf_event_open with a null attr answers EFAULT"),
            "",
            "",
            found == 0 && status->seccomp_mode != 0 ? Severity::note : Severity::ok};
    // Debian's and Ubuntu's kernels refuse the call altogether at levels above 2.
    const bool refused_by_level = facts.privileges.paranoid.value_or(2) > 2 && !facts.privileges.has_perfmon();
    const std::string fix{facts.container    ? facts.container.kind->allow_perf
                          : refused_by_level ? "as root: sysctl kernel.perf_event_paranoid=2 or less"
                          : status->seccomp_mode != 0
                              ? "allow perf_event_open in the seccomp filter of whatever started this process"
                              : "look for the denial in the kernel log (dmesg, journalctl -k)"};
    return Finding{"seccomp",
                   status->seccomp_mode != 0 ? "a seccomp filter refuses perf_event_open"
                                             : "perf_event_open is refused whatever its arguments",
                   fmt::format("{}; perf_event_open with a null attr {}", mode, answer(found)),
                   "no event works at all",
                   fix,
                   Severity::blocks};
}

// Namespaces alone do not make a container: the sandbox of a browser has its own, too. So where no runtime has left a
// trace, the finding names only the namespaces.
Found container(const Facts& facts) {
    const std::string own = own_namespaces(facts.root);
    const std::string namespaces = own.empty() ? "" : "own namespaces: " + own;
    if (!facts.container)
        return own.empty() ? Finding{"container",
                                     "no sign of a container",
                                     "files and namespaces are those of the machine",
                                     "",
                                     "",
                                     Severity::ok}
                           : Finding{"container",
                                     "in its own namespaces",
                                     "/proc/self/ns: " + own,
                                     "only what is in them can be measured",
                                     "",
                                     Severity::note};
    return Finding{"container",
                   fmt::format("in a container ({})", facts.container.kind->name),
                   facts.container.evidence + (own.empty() ? "" : "; " + namespaces),
                   "settings in /proc/sys are those of the host; capabilities and seccomp are those of the container",
                   "",
                   Severity::note};
}

// Root in a user namespace looks like root to programs, and is the most puzzling cause of a refusal: the kernel checks
// CAP_PERFMON in the initial namespace (perfmon_capable()).
Found user_namespace(const Facts& facts) {
    if (facts.privileges.initial_user_namespace) return {};
    const std::string map = facts.root.read("/proc/self/uid_map").value_or("can't be read");
    return Finding{
        "user-namespace",
        "in its own user namespace",
        fmt::format("/proc/self/ns/user is {}; uid_map: {}", facts.root.link("/proc/self/ns/user"), map),
        "capabilities held here don't count: the kernel requires CAP_PERFMON in the initial namespace, even from "
        "root in this one",
        "lower kernel.perf_event_paranoid on the host, or run outside (rootful container)",
        Severity::limits};
}

// The file lists all levels and has the present one in brackets: "none [integrity] confidentiality".
Found lockdown(const Facts& facts) {
    const auto state = facts.root.read("/sys/kernel/security/lockdown");
    if (!state)
        return Finding{
            "lockdown",  "no sign of a kernel lockdown", "/sys/kernel/security/lockdown does not exist", "", "",
            Severity::ok};
    const std::string evidence = "/sys/kernel/security/lockdown: " + *state;
    if (state->find("[none]") != state->npos)
        return Finding{"lockdown", "the kernel is not locked down", evidence, "", "", Severity::ok};
    if (state->find("[integrity]") != state->npos)
        return Finding{"lockdown", "the kernel is locked down for integrity",
                       evidence,   "MSRs can't be written from user space; events are not affected",
                       "",         Severity::note};
    return Finding{"lockdown",
                   "the kernel is locked down for confidentiality",
                   evidence,
                   "kprobes, tracefs and samples with registers at the interrupt are refused (EPERM)",
                   "boot with lockdown=integrity or none",
                   Severity::limits};
}

Found security_modules(const Facts& facts) {
    const auto selinux = number_in(facts.root, "/sys/fs/selinux/enforce");
    const auto modules = facts.root.read("/sys/kernel/security/lsm");
    const std::string profile = facts.root.read("/proc/self/attr/current").value_or("");
    if (selinux == 1)
        return Finding{"security-modules",
                       "SELinux is enforcing",
                       fmt::format("/sys/fs/selinux/enforce is 1; context {}", profile),
                       "a policy may refuse events of class perf_event (EACCES)",
                       "ausearch -m avc shows denials",
                       Severity::note};
    if (!modules || modules->empty()) return {};
    return Finding{"security-modules",
                   fmt::format("security modules: {}", *modules),
                   fmt::format("/sys/kernel/security/lsm{}", profile.empty() ? "" : "; profile " + profile),
                   "",
                   "",
                   Severity::ok};
}

}  // namespace anyperf::host::findings_of
