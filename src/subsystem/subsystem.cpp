// subsystem.cpp: the public functions. Most of them make a CallScope, look up the event and leave the work to another
// file. Within a call, values and clocks do not change (Host) and groups stay locked. At its end, safepoints are
// requested, once for each task, when no lock is held.
#include "subsystem/subsystem.h"

#include "subsystem/control.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/group_lock.h"
#include "subsystem/events/lifetime.h"
#include "subsystem/ioctl/ioctl.h"
#include "subsystem/open.h"
#include "subsystem/output/mapping.h"
#include "subsystem/output/output.h"
#include "subsystem/output/side_band.h"
#include "subsystem/output/threads_records.h"
#include "subsystem/read.h"
#include "subsystem/scheduling/scheduler.h"
#include "subsystem/tasks/task_life.h"
#include "subsystem/tasks/task_table.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

struct Subsystem::Parts {
    World world;
};

namespace {

/// Order. First the host forgets the values of this call. Then the groups are unlocked, so that measured threads see
/// all changes at once. Safepoints are requested last, because the thread that reaches one takes these locks.
void end_call(World& world) {
    world.host.call_ended();
    unlock_groups(world);
    for (Task* task : world.safepoint_requests) {
        task->safepoint_requested = false;
        world.host.request_safepoint(task->id);
    }
    world.safepoint_requests.clear();
}

/// Ends the call when a public function returns. Functions that neither ask for values nor lock groups have none.
struct CallScope {
    World& world;
    ~CallScope() { end_call(world); }
};

std::unexpected<Refusal> no_event() {
    return refuse(EBADF, "no such event");
}

}  // namespace

Subsystem::Subsystem(Host& host, std::vector<Pmu*> pmus)
    : parts_(std::make_unique<Parts>(World{.host = host, .pmus = std::move(pmus)})) {}
Subsystem::~Subsystem() = default;

Answer<EventIndex> Subsystem::open(const OpenRequest& request) {
    const CallScope call{parts_->world};
    return open_event(call.world, request);
}

void Subsystem::close(EventIndex event) {
    const CallScope call{parts_->world};
    if (Event* opened = call.world.find_opened(event)) close_event(call.world, *opened);
}

Answer<std::vector<std::uint64_t>> Subsystem::read(EventIndex event, std::size_t buffer_bytes) {
    const CallScope call{parts_->world};
    Event* opened = call.world.find_opened(event);
    if (!opened) return no_event();
    return read_event(call.world, *opened, buffer_bytes);
}

Answer<IoctlAnswer> Subsystem::ioctl(const TaskId& caller, EventIndex event, std::uint32_t request,
                                     const IoctlArgument& argument) {
    const CallScope call{parts_->world};
    Event* opened = call.world.find_opened(event);
    if (!opened) return no_event();
    return dispatch(request, {call.world, caller, *opened, argument});
}

Answer<Mapping> Subsystem::map(EventIndex event, const MapRequest& request) {
    const CallScope call{parts_->world};
    Event* opened = call.world.find_opened(event);
    if (!opened) return no_event();
    return map_event(call.world, *opened, request);
}

void Subsystem::unmap(EventIndex event, const Mapping& mapping) {
    const CallScope call{parts_->world};
    if (Event* opened = call.world.find_opened(event)) unmap_event(call.world, *opened, mapping);
}

PollState Subsystem::poll(EventIndex event) {
    Event* opened = parts_->world.find_opened(event);
    return opened ? poll_event(parts_->world, *opened) : PollState{.hang_up = true};
}

void Subsystem::notify(EventIndex event, const Notify& target) {
    Event* opened = parts_->world.find_opened(event);
    if (!opened) return;
    LockedPage(parts_->world, *opened)->notify = target;
    // Children get a copy, because in the kernel an inherited event signals as its parent does (perf_event_fasync()).
    for (Event* child : opened->children) LockedPage(parts_->world, *child)->notify = target;
}

void Subsystem::prctl(const TaskId& caller, bool enable_them) {
    const CallScope call{parts_->world};
    Task* task = call.world.find_task(caller);
    if (!task) return;
    const std::vector<Event*> events(task->opened.begin(), task->opened.end());
    (enable_them ? enable : disable)(call.world, events);
}

void Subsystem::refresh_ran_out(EventIndex event) {
    const CallScope call{parts_->world};
    // Not by find_opened(): the event may be a child, which no client has opened.
    const auto found = call.world.events.find(event);
    if (found == call.world.events.end()) return;
    if (sync_state_from_page(call.world, *found->second)) place_group(call.world, *found->second->leader);
}

void Subsystem::ring_written(EventIndex event) {
    const auto found = parts_->world.events.find(event);
    if (found != parts_->world.events.end()) wake_readers(parts_->world, found->second->ring);
}

void Subsystem::task_forked(const TaskId& parent, const TaskId& child, ForkKind kind) {
    const CallScope call{parts_->world};
    forked(call.world, parent, child, kind);
}

void Subsystem::task_exec(const TaskId& was, const TaskId& task) {
    const CallScope call{parts_->world};
    executed(call.world, was, task);
}

void Subsystem::task_exit(const TaskId& task, std::int32_t parent_pid) {
    const CallScope call{parts_->world};
    exited(call.world, task, parent_pid);
}

std::optional<TaskId> Subsystem::task_of(EventIndex event) const {
    const Event* const opened = parts_->world.find_opened(event);
    return opened != nullptr && opened->task != nullptr ? std::optional{opened->task->id} : std::nullopt;
}

std::vector<EventIndex> Subsystem::events_of(const TaskId& task) const {
    std::vector<EventIndex> events;
    for (const auto& [index, event] : parts_->world.events)
        if (event->task != nullptr && event->task->id == task) events.push_back(index);
    return events;
}

void Subsystem::pages_moved(const TaskId& task) {
    for (const EventIndex index : events_of(task))
        parts_->world.events.at(index)->page = &parts_->world.host.event_page(index);
}

bool Subsystem::write_foreign_record(const TaskId& task, EventIndex event, std::span<const std::byte> record) {
    const CallScope call{parts_->world};
    const auto found = call.world.events.find(event);
    if (found == call.world.events.end()) return false;
    Event& writer = *found->second;
    return writer.task != nullptr && writer.task->id == task && write_threads_record(call.world, writer, record);
}

void Subsystem::task_moved(const TaskId& task, std::int32_t cpu) {
    const CallScope call{parts_->world};
    moved(call.world, task, cpu);
}

void Subsystem::task_comm(const TaskId& task, std::string_view name, bool by_exec) {
    const CallScope call{parts_->world};
    report_name(call.world, task, {task.pid, task.tid}, name, by_exec);
}

void Subsystem::task_renamed_thread(const TaskId& task, std::int32_t tid, std::string_view name) {
    const CallScope call{parts_->world};
    report_name(call.world, task, {task.pid, tid}, name, false);
}

void Subsystem::task_mapped(const TaskId& task, const TaskMapping& mapped) {
    const CallScope call{parts_->world};
    report_mapping(call.world, task, mapped);
}

void Subsystem::task_switched(const TaskId& task, SwitchDirection direction, const TaskId& other,
                              std::uint64_t ago_ns) {
    const CallScope call{parts_->world};
    report_switch(call.world, task, direction, other, ago_ns);
}

void Subsystem::task_namespaces(const TaskId& task, const NamespaceLinks& links) {
    const CallScope call{parts_->world};
    report_namespaces(call.world, task, links);
}

void Subsystem::task_made_cgroup(const TaskId& task, std::uint64_t inode, std::string_view path) {
    const CallScope call{parts_->world};
    report_cgroup(call.world, task, inode, path);
}

void Subsystem::tasks_changed_cgroup() {
    const CallScope call{parts_->world};
    for (const auto& [page, task] : call.world.tasks) place_all(call.world, *task);
}

void Subsystem::task_loaded_bpf(const TaskId& task, std::span<const KernelSymbol> functions,
                                const BpfProgram& program) {
    const CallScope call{parts_->world};
    report_bpf(call.world, task, functions, program);
}

std::uint32_t Subsystem::wanted() const {
    const World& world = parts_->world;
    return world.wanted_records | (world.cgroup_events != 0 ? kWantsCgroupMoves : 0) |
           (world.switch_events != 0 ? kWantsSwitchCounts : 0);
}

void Subsystem::tick() {
    const CallScope call{parts_->world};
    const std::uint64_t interval = call.world.host.limits().mux_interval_ns;
    for (const auto& [page, task] : call.world.tasks) rotate_when_due(call.world, *task, interval);
}

bool Subsystem::needs_tick() const {
    return parts_->world.waiting_tasks != 0;
}

std::size_t Subsystem::events() const {
    return parts_->world.events.size();
}

}  // namespace anyperf::subsystem
