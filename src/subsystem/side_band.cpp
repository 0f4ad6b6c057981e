#include "subsystem/side_band.h"

#include <algorithm>
#include <ctime>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "subsystem/event_state.h"
#include "subsystem/output.h"
#include "subsystem/read.h"
#include "subsystem/records/counts.h"
#include "subsystem/scheduler.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {
namespace {

using abi::flag;

TaskIds ids(const TaskName& task) {
    return {task.pid, task.tid};
}

/// The clock of the event's times; without use_clockid the scheduler's, which is near CLOCK_MONOTONIC.
std::uint64_t time_of(World& world, const Event& event) {
    return world.host.clock(event.flag(flag("use_clockid")) ? event.attr.clockid : CLOCK_MONOTONIC);
}

void write(World& world, Event& event, const Record& record, std::uint64_t ago_ns = 0) {
    const RingIndex index = event.page->ring;
    if (index == 0 || !event.task) return;
    const Moment moment{event.task->name.pid, event.task->name.tid, time_of(world, event) - ago_ns,
                        static_cast<std::uint32_t>(event.task->cpu)};
    Written written;
    {
        Locked page(world, event);
        const Ring ring{&world.host.ring_page(index), world.host.ring_memory(index).data()};
        const LockHeld held(world, ring.page->lock);
        written = write_record(ring, *page, moment, record);
    }
    if (written.wake) wake_readers(world, index);
}

/// The task's events that want such a record now, in the order in which the kernel tells them, which a shared ring
/// shows: those of the CPU first, and the newest first.
std::vector<Event*> listeners(World& world, const Task& task, Interest interest) {
    std::vector<Event*> found;
    for (Event* leader : task.leaders) {
        if (!on_its_cpu(world, *leader)) continue;
        for (Event* event : members(*leader)) {
            if (event->kind == Kind::of_cpu && (event->attr.flags & kToldOfCpu) == 0) continue;
            notice_switched(world, *event);
            if (event->wants() && wants(event->attr.flags, interest)) found.push_back(event);
        }
    }
    std::ranges::sort(found, [](const Event* a, const Event* b) {
        const bool a_first = a->kind == Kind::of_cpu;
        const bool b_first = b->kind == Kind::of_cpu;
        return a_first != b_first ? a_first : a->page->stream_id > b->page->stream_id;
    });
    return found;
}

/// `make(event)` to each of them.
template <class Make>
void tell(World& world, Task& task, Interest interest, Make make, std::uint64_t ago_ns = 0) {
    if (world.wanting[static_cast<std::size_t>(interest)] == 0) return;
    for (Event* event : listeners(world, task, interest)) write(world, *event, make(*event), ago_ns);
}

template <class Make>
void tell(World& world, const TaskName& name, Interest interest, Make make, std::uint64_t ago_ns = 0) {
    if (Task* task = world.known(name)) tell(world, *task, interest, make, ago_ns);
}

}  // namespace

void tell_fork(World& world, Task& parent, const TaskName& child) {
    tell(world, parent, Interest::fork,
         [&](const Event& event) { return fork_record(ids(child), ids(parent.name), time_of(world, event)); });
}

void tell_exit(World& world, Task& task, std::int32_t parent_pid) {
    tell(world, task, Interest::exit, [&](const Event& event) {
        return exit_record(ids(task.name), {parent_pid, parent_pid}, time_of(world, event));
    });
}

void tell_read(World& world, Event& event) {
    if (event.kind != Kind::inherited || !wants(event.attr.flags, Interest::read_at_exit)) return;
    const bool group = (event.attr.read_format & abi::read_format("PERF_FORMAT_GROUP")) != 0;
    const Total first = own_total(world, group ? *event.leader : event);
    std::vector<MemberValue> values{first.member};
    if (group)
        for (Event* sibling : event.leader->siblings) values.push_back(own_total(world, *sibling).member);
    write(world, event,
          read_record(ids(event.task->name), event.attr.read_format, {first.enabled, first.running, values}));
}

void tell_name(World& world, const TaskName& task, std::string_view name, bool by_exec) {
    tell(world, task, Interest::comm, [&](const Event&) { return comm_record(ids(task), name, by_exec); });
}

void tell_mapping(World& world, const TaskName& task, const Mapped& mapped) {
    if (world.mapping_events == 0) return;
    const Interest interest = mapped.executable() ? Interest::executable_mapping : Interest::data_mapping;
    tell(world, task, interest, [&](const Event& event) {
        return gets_mmap2(event.attr.flags) ? mmap2_record(mapped, event.flag(flag("build_id"))) : mmap_record(mapped);
    });
}

void tell_switch(World& world, const TaskName& task, Switch direction, const TaskName& other, std::uint64_t ago_ns) {
    const auto make = [&](const Event& event) {
        return event.kind == Kind::of_cpu ? cpu_switch_record(direction, ids(other)) : switch_record(direction);
    };
    tell(world, task, Interest::context_switch, make, ago_ns);
}

void tell_namespaces(World& world, const TaskName& task, const NamespaceLinks& links) {
    tell(world, task, Interest::namespaces, [&](const Event&) { return namespaces_record(ids(task), links); });
}

void tell_cgroup(World& world, const TaskName& task, std::uint64_t inode, std::string_view path) {
    tell(world, task, Interest::cgroup, [&](const Event&) { return cgroup_record(inode, path); });
}

/// Its symbols first: perf_event_bpf_event() of Linux 6.18.
void tell_bpf(World& world, const TaskName& task, std::span<const KernelSymbol> functions, const BpfProgram& program) {
    for (const KernelSymbol& function : functions)
        tell(world, task, Interest::kernel_symbol, [&](const Event&) { return ksymbol_record(function); });
    tell(world, task, Interest::bpf_program, [&](const Event&) { return bpf_event_record(program); });
}

}  // namespace anyperf::subsystem
