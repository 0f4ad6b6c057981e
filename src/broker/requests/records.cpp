// records.cpp: completes what a program reports with what /proc and the kernel's objects say about it.
//
// The thread waits for the answer, so /proc shows the result of its call. A program may report what is not true. Then
// the events that measure it get a wrong record, and nothing else happens.
#include "broker/requests/records.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <vector>

#include "broker/host/kernel_objects.h"
#include "broker/host/process_maps.h"

namespace anyperf::broker {

namespace {

/// Overwrites what /proc/PID/maps says with what the program has just mapped: the kernel merges adjacent mappings.
void correct_mapping(subsystem::TaskMapping& mapped, const RequestContext& request) {
    mapped.task = {request.caller.pid, request.caller.tid};
    mapped.address = request.argument(0);
    mapped.bytes = (request.argument(1) + 4095) & ~std::uint64_t{4095};
    mapped.prot = static_cast<std::uint32_t>(request.argument(2));
    // The kernel derives the record's flags from the mapping. Of the call's flags only these can be in it
    // (perf_event_mmap_event()).
    constexpr std::uint32_t kKept = MAP_LOCKED | MAP_HUGETLB;
    mapped.flags |= static_cast<std::uint32_t>(request.argument(3)) & kKept;
    const auto name = static_cast<run::MappingName>(request.argument(4));
    if (name == run::MappingName::ring) {
        mapped.name = "anon_inode:[perf_event]";
        mapped.offset = 0;
    }
    if (name == run::MappingName::none) mapped.name = "//anon";
}

/// A range of addresses with a name of the program's own. The subsystem cuts a name that is too long for a record.
subsystem::TaskMapping given_mapping(const RequestContext& request) {
    return {.task = {request.caller.pid, request.caller.tid},
            .address = request.argument(0),
            .bytes = request.argument(1),
            .offset = request.argument(5),
            .prot = static_cast<std::uint32_t>(request.argument(2)),
            .flags = static_cast<std::uint32_t>(request.argument(3)),
            .name = std::string{text_of(request)},
            .build_id = {}};
}

/// Files as programs of a deterministic run see them: their inodes and devices have the numbers of the run.
class ShownFiles {
  public:
    explicit ShownFiles(const RequestContext& request) {
        const RunMemory& memory = request.state.memory;
        if (memory.header().deterministic != 0)
            files_ = &memory.made_files(memory.user_of_page(request.caller.thread_page));
    }

    void show(std::uint64_t& device, std::uint64_t& inode) const {
        if (files_ == nullptr || inode == 0) return;
        inode = files_->inode_in_record(device, inode);
        device = files_->shown_device(device);
    }
    void show(subsystem::TaskMapping& mapped) const {
        if (files_ == nullptr) return;
        std::uint64_t device = makedev(mapped.device_major, mapped.device_minor);
        show(device, mapped.inode);
        mapped.device_major = major(device);
        mapped.device_minor = minor(device);
        if (mapped.generation != 0) mapped.generation = run::kShownGeneration;
    }

  private:
    run::MadeFiles* files_ = nullptr;
};

}  // namespace

RequestAnswer on_renamed(RequestContext& request) {
    if (const auto tid = static_cast<std::int32_t>(request.argument(0)); tid > 0)
        request.subsystem().task_renamed_thread(request.caller, tid, text_of(request));
    else
        request.subsystem().task_comm(request.caller, text_of(request), false);
    return {};
}

// A mapping that is gone already, or that /proc does not show, gets no record. That is no error for the program.
RequestAnswer on_mapped(RequestContext& request) {
    if (static_cast<run::MappingName>(request.argument(4)) == run::MappingName::given) {
        request.subsystem().task_mapped(request.caller, given_mapping(request));
        return {};
    }
    auto mapped = mapping_of(request.kernel.pid, request.argument(0));
    if (!mapped) return {};
    correct_mapping(*mapped, request);
    const std::vector<std::byte> id = build_id_of(request.kernel.pid, *mapped);
    mapped->build_id = id;
    ShownFiles{request}.show(*mapped);
    request.subsystem().task_mapped(request.caller, *mapped);
    return {};
}

RequestAnswer on_new_namespaces(RequestContext& request) {
    subsystem::NamespaceLinks links = namespaces_of(request.kernel.pid, request.kernel.tid);
    const ShownFiles shown{request};
    for (subsystem::NamespaceLink& link : links) shown.show(link.device, link.inode);
    request.subsystem().task_namespaces(request.caller, links);
    return {};
}

// The request says how often the thread has waited and been preempted, but not when. The waits are spread evenly from
// the first one (argument 2 says how long ago it was) to the time of the request.
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
    if (auto cgroup = cgroup_at(request.descriptor.get())) {
        ShownFiles{request}.show(cgroup->device, cgroup->inode);
        request.subsystem().task_made_cgroup(request.caller, cgroup->inode, cgroup->path);
    }
    return {};
}

// The request does not say which task was moved where to. The subsystem looks at the cgroup of every task.
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
