// blocked.cpp: checks for something that refuses perf_event_open whatever its arguments are: a kernel without
// performance events, a distribution's patch, a seccomp filter, gVisor, a security module.
//
// A call with a null attr shows it. The kernel itself answers EFAULT, so any other answer comes from code that decides
// before the kernel reads the attr. Files then show which code that was. Since a change of December 2022 ("Call LSM
// hook after copying perf_event_attr") the kernel reads the attr before it asks the security module, so there the null
// attr does not show a security module. The simplest event does.
#include <fmt/format.h>

#include <cerrno>

#include "abi/attr_sizes.h"
#include "abi/event_ids.h"
#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/kernel/sysctl.h"
#include "host/process/container.h"
#include "host/process/process_status.h"

namespace anyperf::host::causes {

namespace {

/// Whether a null attr gets the same errno as the failed call: then the arguments don't matter.
bool blocked(const Failure& failure) {
    return failure.can_retry() && failure.kernel.try_null_attr() == failure.errno_value;
}

/// Whether the event that every process may open gets the same errno: DUMMY on the calling thread, without the kernel.
/// No rule of the kernel itself refuses that with EACCES or EPERM.
bool simplest_event_refused(const Failure& failure) {
    constexpr std::uint64_t kDummy = 9;  // PERF_COUNT_SW_DUMMY
    if (!failure.can_retry()) return false;
    OpenCall simplest{};
    simplest.attr.type = abi::kTypeSoftware;
    simplest.attr.size = abi::kAttrSizes.front().bytes;
    simplest.attr.config = kDummy;
    simplest.attr.flags = kExcludeKernel | kExcludeHv;
    return failure.kernel.try_open(simplest) == failure.errno_value;
}

/// How to change the filter: by the container's own options if its kind is known.
std::string allow_in_container(const Root& root) {
    if (const Container inside = container(root)) return std::string{inside.kind->allow_perf};
    return "allow perf_event_open in the seccomp filter of whatever started this process";
}

}  // namespace

// "The official way of knowing if perf_event_open() support is enabled is checking for the existence of the file
// /proc/sys/kernel/perf_event_paranoid." perf_event_open(2), NOTES.
Found no_perf_events_in_kernel(const Failure& failure) {
    if (failure.privileges.paranoid || !failure.root.exists("/proc/sys/kernel")) return {};
    return Cause{
        "this kernel was built without performance events: /proc/sys/kernel/perf_event_paranoid does not exist",
        "boot a kernel built with CONFIG_PERF_EVENTS=y"};
}

// Debian's and Ubuntu's kernels add levels above mainline's 2, at which they refuse every call of an unprivileged
// process.
Found paranoid_beyond_mainline(const Failure& failure) {
    const auto level = failure.privileges.paranoid.value_or(2);
    if (level <= 2 || failure.privileges.has_perfmon() || !blocked(failure)) return {};
    return Cause{
        fmt::format("kernel.perf_event_paranoid is {} (/proc/sys/kernel/perf_event_paranoid); at that level this "
                    "kernel refuses every perf_event_open of this process, {}",
                    level, describe(failure.privileges)),
        "as root: sysctl kernel.perf_event_paranoid=2 (or 1 to count the kernel too, -1 for everything)"};
}

Found seccomp_filter(const Failure& failure) {
    const auto self = process_status(failure.root, "self");
    if (!self || self->seccomp_mode != 2 || !blocked(failure)) return {};
    const std::string filters = self->seccomp_filters > 0 ? fmt::format(", {} filter{}", self->seccomp_filters,
                                                                        self->seccomp_filters == 1 ? "" : "s")
                                                          : "";
    const Container inside = container(failure.root);
    return Cause{
        fmt::format("a seccomp filter refuses perf_event_open whatever its arguments (/proc/self/status: "
                    "seccomp mode 2{}){}",
                    filters, inside ? fmt::format("; this is {} ({})", inside.kind->name, inside.evidence) : ""),
        allow_in_container(failure.root)};
}

Found gvisor(const Failure& failure) {
    const Container inside = container(failure.root);
    if (!inside || inside.kind->id != "gvisor") return {};
    return Cause{"gVisor's kernel does not serve perf_event_open (" + inside.evidence + ")",
                 std::string{inside.kind->allow_perf}};
}

Found security_module(const Failure& failure) {
    if (!blocked(failure) && !simplest_event_refused(failure)) return {};
    const auto modules = failure.root.read("/sys/kernel/security/lsm");
    const bool enforcing = number_in(failure.root, "/sys/fs/selinux/enforce") == 1;
    if (enforcing)
        return Cause{
            "even the simplest event is refused (DUMMY on this thread), there is no seccomp filter, and SELinux is "
            "enforcing (/sys/fs/selinux/enforce is 1)",
            "look for an AVC denial of class perf_event (ausearch -m avc), and allow it in the policy"};
    if (!modules || modules->empty()) return {};
    return Cause{
        fmt::format("even the simplest event is refused (DUMMY on this thread), there is no seccomp filter, and "
                    "these security modules are active: {} (/sys/kernel/security/lsm)",
                    *modules),
        "look for their denial in the kernel log (dmesg, journalctl -k), and allow the call there"};
}

}  // namespace anyperf::host::causes
