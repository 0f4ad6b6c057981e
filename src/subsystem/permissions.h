// permissions.h: what perf_event_paranoid and capabilities allow a caller (perf_event_open(2), "perf_event_paranoid";
// perf_allow_* in include/linux/perf_event.h of Linux 6.18).
//
// The host is asked for the caller's capabilities only if they decide: most events count their own thread in user mode,
// which everybody may do, and the question costs the broker two system calls.
#pragma once

#include <optional>

#include "subsystem/host.h"

namespace anyperf::subsystem {

/// The rights of the caller of one call. The capabilities are read once, so all checks of the call see the same.
class Rights {
  public:
    Rights(Host& host, const TaskId& caller, const Limits& limits) : host_(&host), caller_(caller), limits_(limits) {}
    /// The rights that follow from known capabilities.
    Rights(const Credentials& known, const Limits& limits) : limits_(limits), known_(known) {}

    bool has_perfmon() const { return credentials().perfmon; }
    bool has_sys_admin() const { return credentials().sys_admin; }
    bool has_ipc_lock() const { return credentials().ipc_lock; }
    /// Kernel mode and physical addresses: perf_event_paranoid at most 1, or CAP_PERFMON.
    bool may_measure_kernel() const { return limits_.paranoid <= 1 || has_perfmon(); }
    /// All tasks of a CPU: perf_event_paranoid at most 0, or CAP_PERFMON.
    bool may_measure_cpu() const { return limits_.paranoid <= 0 || has_perfmon(); }
    /// Raw tracepoint data: perf_event_paranoid -1, or CAP_PERFMON.
    bool may_trace() const { return limits_.paranoid <= -1 || has_perfmon(); }
    /// Rings of any size: perf_event_paranoid -1, or CAP_IPC_LOCK.
    bool may_lock_any_memory() const { return limits_.paranoid <= -1 || has_ipc_lock(); }

  private:
    const Credentials& credentials() const {
        if (!known_) known_ = host_->credentials(caller_);
        return *known_;
    }

    Host* host_ = nullptr;
    TaskId caller_;
    const Limits& limits_;
    mutable std::optional<Credentials> known_;
};

}  // namespace anyperf::subsystem
