// tasks.h: records of what tasks do: COMM, FORK, EXIT, NAMESPACES, SWITCH, ITRACE_START. Ids are those that clients
// know.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "subsystem/records/record.h"

namespace anyperf::subsystem {

struct TaskIds {
    std::int32_t pid = 0;
    std::int32_t tid = 0;
};

/// A new name; `exec`: by execve (PERF_RECORD_MISC_COMM_EXEC, whether comm_exec asks for it or not).
Record comm_record(TaskIds task, std::string_view name, bool exec);

/// `parent` is who forked; a new thread's is its process, so that pid and ppid are the same. `time` in ns of the
/// event's clock.
Record fork_record(TaskIds child, TaskIds parent, std::uint64_t time);
/// `parent` is the process's.
Record exit_record(TaskIds task, TaskIds parent, std::uint64_t time);

struct NamespaceLink {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
};
/// net, uts, ipc, pid, user, mnt, cgroup: the order of the kernel's enum.
inline constexpr std::size_t kNamespaces = 7;
Record namespaces_record(TaskIds task, const std::array<NamespaceLink, kNamespaces>& links);

enum class Switch : std::uint8_t { in, out, preempted };
/// For an event of a task.
Record switch_record(Switch direction);
/// For an event of a CPU: `other` is who was there before, or comes now.
Record cpu_switch_record(Switch direction, TaskIds other);

Record itrace_start_record(TaskIds task);

}  // namespace anyperf::subsystem
