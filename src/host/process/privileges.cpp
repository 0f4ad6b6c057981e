#include "host/process/privileges.h"

#include <sstream>

#include "host/kernel/sysctl.h"
#include "host/process/process_status.h"

namespace anyperf::host {

namespace {

constexpr std::uint64_t bit(Capability capability) {
    return 1ull << static_cast<unsigned>(capability);
}

/// The initial user namespace has a fixed inode number (PROC_USER_INIT_INO of linux/proc_ns.h). If the link can't be
/// read, the uid map decides: in the initial namespace it is one line that maps every uid to itself.
bool in_initial_user_namespace(const Root& root) {
    const std::string link = root.link("/proc/self/ns/user");
    if (!link.empty()) return link == "user:[4026531837]";
    const auto map = root.read("/proc/self/uid_map");
    if (!map) return true;
    std::istringstream words{*map};
    std::uint64_t inside = 1, outside = 1, count = 0;
    words >> inside >> outside >> count;
    return inside == 0 && outside == 0 && count == 4294967295;
}

}  // namespace

// CapEff alone is not enough: root in a user namespace has all bits set.
bool Privileges::has(Capability capability) const {
    return initial_user_namespace && (effective & bit(capability)) != 0;
}

// Capabilities in any other user namespace than the initial one do not count for perf_event_open: perfmon_capable()
// calls capable(), which checks against the initial one. CAP_PERFMON came with Linux 5.8; cap_last_cap shows whether
// the kernel has it.
Privileges privileges(const Root& root) {
    Privileges result;
    if (const auto status = process_status(root, "self")) {
        result.known = true;
        result.effective_uid = status->effective_uid;
        result.effective = status->effective;
        result.no_new_privileges = status->no_new_privileges;
        result.may_gain_perfmon = (status->bounding & (bit(Capability::perfmon) | bit(Capability::sys_admin))) != 0;
    }
    result.initial_user_namespace = in_initial_user_namespace(root);
    result.kernel_knows_perfmon =
        kernel_setting(root, "cap_last_cap").value_or(38) >= static_cast<int>(Capability::perfmon);
    result.paranoid = kernel_setting(root, "perf_event_paranoid");
    return result;
}

std::string describe(const Privileges& privileges) {
    if (!privileges.known) return "one with unknown capabilities";
    std::string text = "uid " + std::to_string(privileges.effective_uid);
    const bool held = (privileges.effective & (bit(Capability::perfmon) | bit(Capability::sys_admin))) != 0;
    if (held && !privileges.initial_user_namespace)
        return text + " with capabilities that count in its user namespace only";
    if (privileges.has(Capability::sys_admin)) return text + " with CAP_SYS_ADMIN";
    if (privileges.has(Capability::perfmon)) return text + " with CAP_PERFMON";
    return text + (privileges.kernel_knows_perfmon ? " without CAP_PERFMON" : " without CAP_SYS_ADMIN");
}

}  // namespace anyperf::host
