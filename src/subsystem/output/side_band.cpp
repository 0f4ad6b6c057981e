// side_band.cpp: turns what a task has done into records in rings.
//
// Which events: perf_iterate_sb() of the kernel walks the events of the task and of the CPU. Here a cpu-wide event has
// a part in each task (Kind::cpu_wide_part), so the task's own list has them all. An event without a counter gets
// records as well: it need only be enabled.
//
// Which record: each event gets a record of its own, because the trailer has the event's ids and clock, and the attr
// decides between MMAP and MMAP2. Reports are rare compared with samples, so nothing is cached.
#include "subsystem/output/side_band.h"

#include <algorithm>
#include <ctime>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/totals.h"
#include "subsystem/output/output.h"
#include "subsystem/records/counts.h"
#include "subsystem/scheduling/scheduler.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {
namespace {

using abi::flag;

/// Records have the ids that programs of the run see.
PidAndTid shown(World& world, const PidAndTid& ids) {
    return {world.host.shown_id(ids.pid), world.host.shown_id(ids.tid)};
}
PidAndTid shown(World& world, const TaskId& task) {
    return shown(world, PidAndTid{task.pid, task.tid});
}

/// Now on the clock of the event's times. Without use_clockid that is the scheduler's clock, which is near
/// CLOCK_MONOTONIC.
std::uint64_t time_of(World& world, const Event& event) {
    return world.host.clock(event.flag(flag("use_clockid")) ? event.attr.clockid : CLOCK_MONOTONIC);
}

/// Writes a record into the event's ring. If the ring's lock can't be had the record counts as lost. Readers are woken
/// after both locks have been released. `ago_ns`: how long before now it happened.
void write(World& world, Event& event, const Record& record, std::uint64_t ago_ns = 0) {
    const RingIndex index = event.ring;
    if (index == 0 || !event.task) return;
    const auto [pid, tid] = shown(world, event.task->id);
    const RecordOrigin moment{pid, tid, time_of(world, event) - ago_ns, static_cast<std::uint32_t>(event.task->cpu)};
    WriteResult written;
    {
        LockedPage page(world, event);
        const std::span<std::byte> memory = world.host.ring_memory(index);
        const Ring ring{&world.host.ring_page(index), memory.data(), memory.size() - kRingPageBytes};
        const RingLock held(world, ring.page->lock);
        if (held)
            written = write_record(ring, *page, moment, record);
        else
            drop_locked_out(ring, *page);
    }
    if (written.wake) wake_readers(world, index);
}

/// The task's events that want such a record now. They are in the kernel's order of delivery, which is visible in a
/// shared ring: cpu-wide events first, and newer events before older ones.
std::vector<Event*> interested_events(World& world, const Task& task, Interest interest) {
    std::vector<Event*> found;
    for (Event* leader : task.leaders) {
        if (!is_on_cpu(world, *leader)) continue;
        for (Event* event : members(*leader)) {
            if (event->kind == Kind::cpu_wide_part && (event->attr.flags & kCpuSideBandFlags) == 0) continue;
            // The thread may have toggled the event itself, without a request (shared/local_toggle.h).
            sync_state_from_page(world, *event);
            if (event->is_enabled() && requests_record(event->attr.flags, interest)) found.push_back(event);
        }
    }
    std::ranges::sort(found, [](const Event* a, const Event* b) {
        const bool a_first = a->kind == Kind::cpu_wide_part;
        const bool b_first = b->kind == Kind::cpu_wide_part;
        return a_first != b_first ? a_first : a->page->stream_id > b->page->stream_id;
    });
    return found;
}

/// Writes `make(event)` into the ring of each interested event.
template <class Make>
void report(World& world, Task& task, Interest interest, Make make, std::uint64_t ago_ns = 0) {
    if (world.record_requests[static_cast<std::size_t>(interest)] == 0) return;
    for (Event* event : interested_events(world, task, interest)) write(world, *event, make(*event), ago_ns);
}

template <class Make>
void report(World& world, const TaskId& name, Interest interest, Make make, std::uint64_t ago_ns = 0) {
    if (Task* task = world.find_task(name)) report(world, *task, interest, make, ago_ns);
}

}  // namespace

void report_fork(World& world, Task& parent, const TaskId& child) {
    report(world, parent, Interest::fork, [&](const Event& event) {
        return fork_record(shown(world, child), shown(world, parent.id), time_of(world, event));
    });
}

void report_exit(World& world, Task& task, std::int32_t parent_pid) {
    report(world, task, Interest::exit, [&](const Event& event) {
        return exit_record(shown(world, task.id), shown(world, PidAndTid{parent_pid, parent_pid}),
                           time_of(world, event));
    });
}

// With inherit_stat, a child that ends writes a READ record with its own counts (sync_child_event(),
// perf_event_read_event()).
void report_read(World& world, Event& event) {
    if (event.kind != Kind::inherited || !requests_record(event.attr.flags, Interest::read_at_exit)) return;
    const bool group = (event.attr.read_format & abi::read_format("PERF_FORMAT_GROUP")) != 0;
    const Total first = own_total(world, group ? *event.leader : event);
    std::vector<MemberValue> values{first.member};
    if (group)
        for (Event* sibling : event.leader->siblings) values.push_back(own_total(world, *sibling).member);
    write(world, event,
          read_record(shown(world, event.task->id), event.attr.read_format, {first.enabled, first.running, values}));
}

void report_name(World& world, const TaskId& task, PidAndTid named, std::string_view name, bool by_exec) {
    report(world, task, Interest::comm, [&](const Event&) { return comm_record(shown(world, named), name, by_exec); });
}

void report_mapping(World& world, const TaskId& task, const TaskMapping& mapped) {
    if (world.mapping_events == 0) return;
    const Interest interest = mapped.executable() ? Interest::executable_mapping : Interest::data_mapping;
    TaskMapping named = mapped;
    named.task = shown(world, mapped.task);
    report(world, task, interest, [&](const Event& event) {
        return gets_mmap2(event.attr.flags) ? mmap2_record(named, event.flag(flag("build_id"))) : mmap_record(named);
    });
}

void report_switch(World& world, const TaskId& task, SwitchDirection direction, const TaskId& other,
                   std::uint64_t ago_ns) {
    const auto make = [&](const Event& event) {
        return event.kind == Kind::cpu_wide_part ? cpu_switch_record(direction, shown(world, other))
                                                 : switch_record(direction);
    };
    report(world, task, Interest::context_switch, make, ago_ns);
}

void report_namespaces(World& world, const TaskId& task, const NamespaceLinks& links) {
    report(world, task, Interest::namespaces,
           [&](const Event&) { return namespaces_record(shown(world, task), links); });
}

void report_cgroup(World& world, const TaskId& task, std::uint64_t inode, std::string_view path) {
    report(world, task, Interest::cgroup, [&](const Event&) { return cgroup_record(inode, path); });
}

/// The symbols come before the program: perf_event_bpf_event() of Linux 6.18.
void report_bpf(World& world, const TaskId& task, std::span<const KernelSymbol> functions, const BpfProgram& program) {
    for (const KernelSymbol& function : functions)
        report(world, task, Interest::kernel_symbol, [&](const Event&) { return ksymbol_record(function); });
    report(world, task, Interest::bpf_program, [&](const Event&) { return bpf_event_record(program); });
}

}  // namespace anyperf::subsystem
