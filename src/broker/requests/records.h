// records.h: requests about what only side-band records report: names, mappings, namespaces, switches, cgroups, BPF
// programs.
#pragma once

#include "broker/requests/request_context.h"

namespace anyperf::broker {

/// The thread's new name.
RequestAnswer on_renamed(RequestContext& request);
/// A new mapping, for PERF_RECORD_MMAP and MMAP2.
RequestAnswer on_mapped(RequestContext& request);
/// The process has entered other namespaces.
RequestAnswer on_new_namespaces(RequestContext& request);
/// Context switches that a thread has noticed after the system call in which it waited. The other task is unknown: only
/// the kernel knows which one had the CPU. Several waits in one call are spread evenly over its time.
RequestAnswer on_switched(RequestContext& request);
/// The descriptor that comes with the request is the directory of the new cgroup.
RequestAnswer on_made_cgroup(RequestContext& request);
/// A task has been moved to another cgroup, so events of cgroups may have to start or stop.
RequestAnswer on_moved_tasks(RequestContext& request);
/// The descriptor that comes with the request is the BPF program.
RequestAnswer on_loaded_bpf(RequestContext& request);

}  // namespace anyperf::broker
