// side_band.h: writes side-band records of what tasks do into the rings of the events that want them
// (records/record_interests.h). An event gets a record while it is enabled and its task is on its CPU, whether it has a
// counter or not (perf_iterate_ctx() of Linux 6.18). A record that does not fit into the ring is counted as lost.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "subsystem/records/kernel_text.h"
#include "subsystem/records/mappings.h"
#include "subsystem/records/tasks.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// To be called before the child inherits events: only the parent's events report the fork.
void report_fork(World& world, Task& parent, const TaskId& child);
/// `parent_pid`: the pid of the process's parent.
void report_exit(World& world, Task& task, std::int32_t parent_pid);
/// READ (attr.inherit_stat): what an inherited event has counted in a task that ends.
void report_read(World& world, Event& event);
/// A new name of the task; `by_exec`: an exec has set it.
/// `named`: the thread whose name it is.
void report_name(World& world, const TaskId& task, PidAndTid named, std::string_view name, bool by_exec);
void report_mapping(World& world, const TaskId& task, const TaskMapping& mapped);
/// `other` is the task that had the CPU before (in) or has it next (out). The switch was `ago_ns` ago.
void report_switch(World& world, const TaskId& task, SwitchDirection direction, const TaskId& other,
                   std::uint64_t ago_ns);
void report_namespaces(World& world, const TaskId& task, const NamespaceLinks& links);
/// The task has made this cgroup.
void report_cgroup(World& world, const TaskId& task, std::uint64_t inode, std::string_view path);
/// The task has loaded the program: KSYMBOL for each of its functions, then BPF_EVENT.
void report_bpf(World& world, const TaskId& task, std::span<const KernelSymbol> functions, const BpfProgram& program);

}  // namespace anyperf::subsystem
