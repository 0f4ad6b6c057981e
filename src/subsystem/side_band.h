// side_band.h: what tasks do, written into the rings of the events that count them and ask to be told
// (records/interests.h). An event is told while it is enabled and its task is on its CPU, whether it has a counter or
// not (perf_iterate_ctx of Linux 6.18).
#pragma once

#include <string_view>

#include "subsystem/subsystem.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// By the task that forks, before the child is there.
void tell_fork(World& world, Task& parent, const TaskName& child);
void tell_exit(World& world, Task& task, std::int32_t parent_pid);
/// READ: what an inherited event has counted in its task, which it is about to leave.
void tell_read(World& world, Event& event);
void tell_name(World& world, const TaskName& task, std::string_view name, bool by_exec);
void tell_mapping(World& world, const TaskName& task, const Mapped& mapped);
void tell_switch(World& world, const TaskName& task, Switch direction, const TaskName& other, std::uint64_t ago_ns);
void tell_namespaces(World& world, const TaskName& task, const NamespaceLinks& links);
void tell_cgroup(World& world, const TaskName& task, std::uint64_t inode, std::string_view path);
void tell_bpf(World& world, const TaskName& task, std::span<const KernelSymbol> functions, const BpfProgram& program);

}  // namespace anyperf::subsystem
