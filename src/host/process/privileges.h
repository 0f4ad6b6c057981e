// privileges.h: what this process may measure, from perf_event_paranoid and its capabilities (capabilities(7)). The
// decisions are those of the kernel's perf_allow_kernel(), perf_allow_cpu() and perf_allow_tracepoint()
// (kernel/events/core.c, include/linux/perf_event.h). A security module may refuse more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// The capabilities that matter for performance events, with their numbers in uapi/linux/capability.h.
enum class Capability : std::uint8_t { ipc_lock = 14, sys_ptrace = 19, sys_admin = 21, perfmon = 38 };

/// The rights of one process.
struct Privileges {
    bool known = false;  ///< /proc/self/status could be read; if not, the process counts as one without capabilities
    std::uint32_t effective_uid = 0;
    std::uint64_t effective = 0;         ///< capabilities in the process's own user namespace; bit N is capability N
    bool initial_user_namespace = true;  ///< if not, capabilities don't count: they must be held in the initial one
    bool no_new_privileges = false;      ///< exec gives no rights, so that sudo and setcap are in vain (prctl(2))
    bool may_gain_perfmon = true;        ///< the bounding set has CAP_PERFMON or CAP_SYS_ADMIN, so root can have it
    bool kernel_knows_perfmon = true;    ///< Linux 5.8 introduced CAP_PERFMON
    std::optional<long long> paranoid;   ///< kernel.perf_event_paranoid; empty if it can't be read

    /// Whether the process has the capability in the initial user namespace.
    bool has(Capability capability) const;
    /// CAP_PERFMON, or CAP_SYS_ADMIN, which includes it. With it no paranoid level applies.
    bool has_perfmon() const { return has(Capability::perfmon) || has(Capability::sys_admin); }
    /// May open events that count kernel mode, too.
    bool may_measure_kernel() const { return has_perfmon() || paranoid.value_or(2) <= 1; }
    /// May open events on a CPU instead of a process.
    bool may_measure_cpus() const { return has_perfmon() || paranoid.value_or(2) <= 0; }
    /// May sample the raw data of tracepoints. Those of system calls are an exception that needs no such right.
    bool may_read_tracepoint_data() const { return has_perfmon() || paranoid.value_or(2) <= -1; }
};

/// From /proc/self and /proc/sys/kernel below `root`. Never fails: see Privileges::known.
Privileges privileges(const Root& root);

/// "uid 1000 without CAP_PERFMON": the part that matters, for a message.
std::string describe(const Privileges& privileges);

}  // namespace anyperf::host
