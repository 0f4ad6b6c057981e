#include "host/process/gain_rights.h"

#include <fmt/format.h>

namespace anyperf::host {

// The advice must work where it is followed. Each branch before the last return is a situation in which the usual
// `sudo` or `setcap` has no effect.
std::string how_to_gain_rights(const Privileges& privileges, const Container& container, int level) {
    // kernel.perf_event_paranoid is not namespaced: a container sees it, but can't change it.
    const std::string_view where = container || !privileges.initial_user_namespace ? "on the host, as root" : "as root";
    const std::string setting =
        level < 2 ? fmt::format("{}: sysctl kernel.perf_event_paranoid={}; or ", where, level) : std::string{};
    if (!privileges.initial_user_namespace)
        return setting + "run outside this user namespace: capabilities don't count in it";
    if (container && !privileges.may_gain_perfmon)
        return fmt::format("{}{}, and run as its root", setting, container.kind->allow_perf);
    const bool perfmon = privileges.kernel_knows_perfmon;
    if (privileges.no_new_privileges)
        return fmt::format(
            "{}start {} without no_new_privs (NoNewPrivs in /proc/self/status: sudo and setcap give it no "
            "rights), and with {}",
            setting, container ? "the container" : "this process", perfmon ? "CAP_PERFMON" : "CAP_SYS_ADMIN");
    return fmt::format("{}run with {} (sudo, or once: setcap {}+ep on the program that measures)", setting,
                       perfmon ? "CAP_PERFMON" : "CAP_SYS_ADMIN", perfmon ? "cap_perfmon" : "cap_sys_admin");
}

}  // namespace anyperf::host
