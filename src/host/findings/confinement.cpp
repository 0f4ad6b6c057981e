// confinement.cpp: who may stand between this process and perf_event_open: seccomp filters, containers, namespaces,
// lockdown, security modules.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "host/findings/finders.h"
#include "host/process_status.h"
#include "host/sysctl.h"

namespace anyperf::host::findings_of {

namespace {

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
        fmt::format("/proc/self/status: Seccomp {}{}", status->seccomp_mode,
                    status->seccomp_filters > 0 ? fmt::format(", {} filters", status->seccomp_filters) : "");
    if (!facts.live())
        return status->seccomp_mode == 0
                   ? Finding{"seccomp", "no seccomp filter", mode, "", "", Severity::ok}
                   : Finding{"seccomp",
                             "there is a seccomp filter; whether it lets perf_event_open through only shows there",
                             mode,
                             "",
                             "run anyperf explain on that machine",
                             Severity::note};
    const int found = null_attr_in_child(facts.kernel);
    if (found == EFAULT || found == 0)
        return Finding{"seccomp",
                       status->seccomp_mode == 0 ? "no seccomp filter stands before perf_event_open"
                                                 : "the seccomp filter lets perf_event_open through",
                       mode + "; perf_event_open with a null attr answers EFAULT",
                       "",
                       "",
                       Severity::ok};
    const bool levels = facts.privileges.paranoid.value_or(2) > 2 && !facts.privileges.perfmon();
    const std::string fix{facts.container ? facts.container.kind->allow_perf
                          : levels        ? "as root: sysctl kernel.perf_event_paranoid=2 or less"
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

Found container(const Facts& facts) {
    const std::string own = own_namespaces(facts.root);
    const std::string namespaces = own.empty() ? "" : "namespaces of its own: " + own;
    if (!facts.container)
        return own.empty() ? Finding{"container",
                                     "no sign of a container",
                                     "files and namespaces are those of the machine",
                                     "",
                                     "",
                                     Severity::ok}
                           : Finding{"container",
                                     "in namespaces of its own",
                                     "/proc/self/ns: " + own,
                                     "only what is in them can be measured",
                                     "",
                                     Severity::note};
    return Finding{"container",
                   fmt::format("in a container ({})", facts.container.kind->name),
                   facts.container.evidence + (own.empty() ? "" : "; " + namespaces),
                   "settings below /proc/sys are the host's; capabilities and seccomp are the container's",
                   "",
                   Severity::note};
}

Found user_namespace(const Facts& facts) {
    if (facts.privileges.initial_user_namespace) return {};
    const std::string map = facts.root.read("/proc/self/uid_map").value_or("can't be read");
    return Finding{
        "user-namespace",
        "in a user namespace of its own",
        fmt::format("/proc/self/ns/user is {}; uid_map: {}", facts.root.link("/proc/self/ns/user"), map),
        "capabilities held here don't count: the kernel asks for CAP_PERFMON in the initial namespace, even of "
        "its root",
        "lower kernel.perf_event_paranoid on the host, or run outside (rootful container)",
        Severity::limits};
}

Found lockdown(const Facts& facts) {
    const auto state = facts.root.read("/sys/kernel/security/lockdown");
    if (!state)
        return Finding{
            "lockdown",  "no sign of a kernel lockdown", "/sys/kernel/security/lockdown is not there", "", "",
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
                   "kprobes, tracefs and samples with registers of the interrupt are refused (EPERM)",
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
