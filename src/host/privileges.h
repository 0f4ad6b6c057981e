// privileges.h: what this process may measure: perf_event_paranoid against its capabilities.
// kernel/events/core.c (perf_allow_kernel, perf_allow_cpu, perf_allow_tracepoint), capabilities(7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// Those that perf events ask for, by their number in capabilities(7).
enum class Capability : std::uint8_t {
    ipc_lock = 14,
    sys_ptrace = 19,
    sys_admin = 21,
    sys_resource = 24,
    perfmon = 38
};

struct Privileges {
    bool known = false;  ///< /proc/self/status could be read; else it is taken for a process without capabilities
    std::uint32_t effective_uid = 0;
    std::uint64_t effective = 0;         ///< capabilities, as the process's own user namespace counts them
    bool initial_user_namespace = true;  ///< else the kernel doesn't count them: it asks for them in the initial one
    bool may_gain_perfmon = true;        ///< the bounding set leaves CAP_PERFMON or CAP_SYS_ADMIN to its root
    bool kernel_knows_perfmon = true;    ///< CAP_PERFMON came with Linux 5.8
    std::optional<long long> paranoid;   ///< kernel.perf_event_paranoid; empty where it can't be read

    /// Held, where it counts.
    bool has(Capability capability) const;
    /// CAP_PERFMON, or CAP_SYS_ADMIN which includes it: no paranoid level applies.
    bool perfmon() const { return has(Capability::perfmon) || has(Capability::sys_admin); }
    /// Events that count the kernel too.
    bool may_measure_kernel() const { return perfmon() || paranoid.value_or(2) <= 1; }
    /// Events of a CPU rather than of a process.
    bool may_measure_cpus() const { return perfmon() || paranoid.value_or(2) <= 0; }
    /// Raw data of tracepoints other than system calls'.
    bool may_read_tracepoint_data() const { return perfmon() || paranoid.value_or(2) <= -1; }
};

/// From /proc/self and /proc/sys/kernel. Where /proc can't be read, a process without capabilities.
Privileges privileges(const Root& root);

/// "uid 1000, no CAP_PERFMON": what of it matters, for a message.
std::string describe(const Privileges& privileges);

}  // namespace anyperf::host
