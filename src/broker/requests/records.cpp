// records.cpp: completes what a program reports by what /proc and the kernel's objects say of it.
//
// The thread waits for the answer, so what /proc shows is what its call has made. A program may report what is not so:
// it then gets a wrong record in the rings of events that it is measured by, and nothing else happens.
#include "broker/requests/records.h"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "broker/host/kernel_objects.h"
#include "broker/host/process_maps.h"

namespace anyperf::broker {

namespace {

/// Overwrites what /proc/PID/maps says: it shows merged mappings, but the program knows what it has just mapped.
void correct_mapping(subsystem::TaskMapping& mapped, const RequestContext& request) {
    mapped.task = {request.caller.pid, request.caller.tid};
    mapped.address = request.argument(0);
    mapped.bytes = (request.argument(1) + 4095) & ~std::uint64_t{4095};
    mapped.prot = static_cast<std::uint32_t>(request.argument(2));
    // The kernel derives the flags from the mapping: of those of the call only these remain (perf_event_mmap_event()).
    constexpr std::uint32_t kKept = MAP_LOCKED | MAP_HUGETLB;
    mapped.flags |= static_cast<std::uint32_t>(request.argument(3)) & kKept;
    const auto name = static_cast<run::MappingName>(request.argument(4));
    if (name == run::MappingName::ring) {
        mapped.name = "anon_inode:[perf_event]";
        mapped.offset = 0;
    }
    if (name == run::MappingName::none) mapped.name = "//anon";
}

}  // namespace

RequestAnswer on_renamed(RequestContext& request) {
    request.subsystem().task_comm(request.caller, text_of(request), false);
    return {};
}

// A mapping that is gone already, or cannot be seen, has no record. The program is answered in any case.
RequestAnswer on_mapped(RequestContext& request) {
    auto mapped = mapping_of(request.kernel.pid, request.argument(0));
    if (!mapped) return {};
    correct_mapping(*mapped, request);
    const std::vector<std::byte> id = build_id_of(request.kernel.pid, *mapped);
    mapped->build_id = id;
    request.subsystem().task_mapped(request.caller, *mapped);
    return {};
}

RequestAnswer on_new_namespaces(RequestContext& request) {
    request.subsystem().task_namespaces(request.caller, namespaces_of(request.kernel.pid, request.kernel.tid));
    return {};
}

// The thread reports how often it has waited and been preempted since its last report, not when. The waits are spread
// evenly over the time in between.
RequestAnswer on_switched(RequestContext& request) {
    using subsystem::SwitchDirection;
    constexpr std::uint64_t kMost = 1024;  // records for one request, whatever it claims
    constexpr TaskId kUnknown{subsystem::kOutsideOfRun, -1, -1};
    const auto report = [&](SwitchDirection direction, std::uint64_t ago_ns) {
        request.subsystem().task_switched(request.caller, direction, kUnknown, ago_ns);
    };
    if (request.argument(3) != 0) report(SwitchDirection::in, 0);
    const std::uint64_t waits = std::min(request.argument(0), kMost);
    const std::uint64_t span_ns = request.argument(2);
    for (std::uint64_t i = 0; i < waits; ++i) {
        report(SwitchDirection::out, span_ns / waits * (waits - i));
        report(SwitchDirection::in, span_ns / waits * (waits - i - 1));
    }
    const std::uint64_t preemptions = std::min(request.argument(1), kMost);
    for (std::uint64_t i = 0; i < preemptions; ++i) {
        report(SwitchDirection::preempted, 0);
        report(SwitchDirection::in, 0);
    }
    return {};
}

RequestAnswer on_made_cgroup(RequestContext& request) {
    if (const auto cgroup = cgroup_at(request.descriptor.get()))
        request.subsystem().task_made_cgroup(request.caller, cgroup->inode, cgroup->path);
    return {};
}

// Which task, and to where, is read from /proc: what was written is the program's.
RequestAnswer on_moved_tasks(RequestContext& request) {
    request.subsystem().tasks_changed_cgroup();
    return {};
}

RequestAnswer on_loaded_bpf(RequestContext& request) {
    if (const auto loaded = bpf_program(request.descriptor.get()))
        request.subsystem().task_loaded_bpf(request.caller, loaded->symbols(), loaded->program);
    return {};
}

}  // namespace anyperf::broker
