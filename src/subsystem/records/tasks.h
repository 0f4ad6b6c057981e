// tasks.h: makes the records COMM, FORK, EXIT, NAMESPACES, SWITCH, SWITCH_CPU_WIDE and ITRACE_START. Pids and tids are
// those that clients see.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "subsystem/records/record.h"

namespace anyperf::subsystem {

struct PidAndTid {
    std::int32_t pid = 0;
    std::int32_t tid = 0;
};

/// COMM: the task has a new name. `exec`: an execve gave it; the record then has PERF_RECORD_MISC_COMM_EXEC, whether or
/// not attr.comm_exec is set.
Record comm_record(PidAndTid task, std::string_view name, bool exec);

/// FORK. `parent` is the task that called fork or clone; if `child` is a thread, both have the same pid. `time` is in
/// ns of the event's clock.
Record fork_record(PidAndTid child, PidAndTid parent, std::uint64_t time);
/// EXIT. `parent` is the parent of the task's process.
Record exit_record(PidAndTid task, PidAndTid parent, std::uint64_t time);

struct NamespaceLink {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
};
/// NamespaceLinks are in the order of the kernel's enum: net, uts, ipc, pid, user, mnt, cgroup.
inline constexpr std::size_t kNamespaces = 7;
using NamespaceLinks = std::array<NamespaceLink, kNamespaces>;
Record namespaces_record(PidAndTid task, const NamespaceLinks& links);

enum class SwitchDirection : std::uint8_t { in, out, preempted };
/// SWITCH, for an event of a task.
Record switch_record(SwitchDirection direction);
/// SWITCH_CPU_WIDE, for a cpu-wide event: `other` is the task that had the CPU before, or has it next.
Record cpu_switch_record(SwitchDirection direction, PidAndTid other);

/// ITRACE_START: hardware tracing of the task begins.
Record itrace_start_record(PidAndTid task);

}  // namespace anyperf::subsystem
