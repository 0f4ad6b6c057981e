// raise_rights.cpp: see raise_rights.h.
#include "host/raise_rights.h"

#include <fmt/format.h>

namespace anyperf::host {

std::string how_to_raise(const Privileges& privileges, const Container& container, int level) {
    const std::string_view where = container || !privileges.initial_user_namespace ? "on the host, as root" : "as root";
    const std::string setting =
        level < 2 ? fmt::format("{}: sysctl kernel.perf_event_paranoid={}; or ", where, level) : std::string{};
    if (!privileges.initial_user_namespace)
        return setting + "run outside this user namespace, where the capability counts";
    if (container && !privileges.may_gain_perfmon)
        return fmt::format("{}{}, and run as its root", setting, container.kind->allow_perf);
    const bool perfmon = privileges.kernel_knows_perfmon;
    return fmt::format("{}run with {} (sudo, or once: setcap {}+ep on the program that measures)", setting,
                       perfmon ? "CAP_PERFMON" : "CAP_SYS_ADMIN", perfmon ? "cap_perfmon" : "cap_sys_admin");
}

}  // namespace anyperf::host
