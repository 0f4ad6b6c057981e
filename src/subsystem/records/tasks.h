// tasks.h: the records COMM, FORK, EXIT, NAMESPACES, SWITCH, SWITCH_CPU_WIDE and ITRACE_START. Ids are those that
// clients see.
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

/// A new name. `exec`: it comes from execve, which sets PERF_RECORD_MISC_COMM_EXEC with or without attr.comm_exec.
Record comm_record(PidAndTid task, std::string_view name, bool exec);

/// `parent` is the task that forked; for a new thread its process, so that pid and ppid are equal. `time` is in ns of
/// the event's clock.
Record fork_record(PidAndTid child, PidAndTid parent, std::uint64_t time);
/// `parent` is the process's parent.
Record exit_record(PidAndTid task, PidAndTid parent, std::uint64_t time);

struct NamespaceLink {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
};
/// In the order of the kernel's enum: net, uts, ipc, pid, user, mnt, cgroup.
inline constexpr std::size_t kNamespaces = 7;
using NamespaceLinks = std::array<NamespaceLink, kNamespaces>;
Record namespaces_record(PidAndTid task, const NamespaceLinks& links);

enum class SwitchDirection : std::uint8_t { in, out, preempted };
/// SWITCH, for an event of a task.
Record switch_record(SwitchDirection direction);
/// SWITCH_CPU_WIDE, for a cpu-wide event: `other` is the task that had the CPU before, or has it next.
Record cpu_switch_record(SwitchDirection direction, PidAndTid other);

/// Hardware tracing of the task begins.
Record itrace_start_record(PidAndTid task);

}  // namespace anyperf::subsystem
