#include "subsystem/subsystem.h"

#include "subsystem/control.h"
#include "subsystem/event_state.h"
#include "subsystem/ioctl/ioctl.h"
#include "subsystem/lifetime.h"
#include "subsystem/mapping.h"
#include "subsystem/open.h"
#include "subsystem/output.h"
#include "subsystem/read.h"
#include "subsystem/scheduler.h"
#include "subsystem/side_band.h"
#include "subsystem/task_life.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

struct Subsystem::Parts {
    World world;
};

namespace {

/// Threads are told at the end of each call.
struct Settled {
    World& world;
    ~Settled() { settle(world); }
};

std::unexpected<Refusal> no_event() {
    return refuse(EBADF, "no such event");
}

}  // namespace

Subsystem::Subsystem(Host& host, std::vector<Pmu*> pmus)
    : parts_(std::make_unique<Parts>(World{.host = host, .pmus = std::move(pmus)})) {}
Subsystem::~Subsystem() = default;

Answer<EventIndex> Subsystem::open(const OpenRequest& request) {
    const Settled settled{parts_->world};
    return open_event(settled.world, request);
}

void Subsystem::close(EventIndex event) {
    const Settled settled{parts_->world};
    if (Event* opened = settled.world.opened(event)) close_event(settled.world, *opened);
}

Answer<std::vector<std::uint64_t>> Subsystem::read(EventIndex event, std::size_t buffer_bytes) {
    const Settled settled{parts_->world};
    Event* opened = settled.world.opened(event);
    if (!opened) return no_event();
    return read_event(settled.world, *opened, buffer_bytes);
}

Answer<IoctlAnswer> Subsystem::ioctl(const TaskName& caller, EventIndex event, std::uint32_t request,
                                     const IoctlArgument& argument) {
    const Settled settled{parts_->world};
    Event* opened = settled.world.opened(event);
    if (!opened) return no_event();
    return dispatch(request, {settled.world, caller, *opened, argument});
}

Answer<Mapping> Subsystem::map(EventIndex event, const MapRequest& request) {
    const Settled settled{parts_->world};
    Event* opened = settled.world.opened(event);
    if (!opened) return no_event();
    return map_event(settled.world, *opened, request);
}

void Subsystem::unmap(EventIndex event, const Mapping& mapping) {
    const Settled settled{parts_->world};
    if (Event* opened = settled.world.opened(event)) unmap_event(settled.world, *opened, mapping);
}

PollState Subsystem::poll(EventIndex event) {
    Event* opened = parts_->world.opened(event);
    return opened ? poll_event(parts_->world, *opened) : PollState{.hang_up = true};
}

void Subsystem::notify(EventIndex event, const Notify& whom) {
    Event* opened = parts_->world.opened(event);
    if (!opened) return;
    Locked(parts_->world, *opened)->notify = whom;
    for (Event* child : opened->children) Locked(parts_->world, *child)->notify = whom;
}

void Subsystem::prctl(const TaskName& caller, bool enable_them) {
    const Settled settled{parts_->world};
    Task* task = settled.world.known(caller);
    if (!task) return;
    const std::vector<Event*> events(task->opened.begin(), task->opened.end());
    (enable_them ? enable : disable)(settled.world, events);
}

void Subsystem::ran_out(EventIndex event) {
    const Settled settled{parts_->world};
    const auto found = settled.world.events.find(event);
    if (found == settled.world.events.end()) return;
    if (notice_switched(settled.world, *found->second)) place_group(settled.world, *found->second->leader);
}

void Subsystem::wrote(EventIndex event) {
    const auto found = parts_->world.events.find(event);
    if (found != parts_->world.events.end()) wake_readers(parts_->world, found->second->page->ring);
}

void Subsystem::task_forked(const TaskName& parent, const TaskName& child, ForkKind kind) {
    const Settled settled{parts_->world};
    forked(settled.world, parent, child, kind);
}

void Subsystem::task_exec(const TaskName& was, const TaskName& task) {
    const Settled settled{parts_->world};
    executed(settled.world, was, task);
}

void Subsystem::task_exit(const TaskName& task, std::int32_t parent_pid) {
    const Settled settled{parts_->world};
    exited(settled.world, task, parent_pid);
}

void Subsystem::task_moved(const TaskName& task, std::int32_t cpu) {
    const Settled settled{parts_->world};
    moved(settled.world, task, cpu);
}

void Subsystem::task_comm(const TaskName& task, std::string_view name, bool by_exec) {
    const Settled settled{parts_->world};
    tell_name(settled.world, task, name, by_exec);
}

void Subsystem::task_mapped(const TaskName& task, const Mapped& mapped) {
    const Settled settled{parts_->world};
    tell_mapping(settled.world, task, mapped);
}

void Subsystem::task_switched(const TaskName& task, Switch direction, const TaskName& other, std::uint64_t ago_ns) {
    const Settled settled{parts_->world};
    tell_switch(settled.world, task, direction, other, ago_ns);
}

void Subsystem::task_namespaces(const TaskName& task, const NamespaceLinks& links) {
    const Settled settled{parts_->world};
    tell_namespaces(settled.world, task, links);
}

void Subsystem::task_made_cgroup(const TaskName& task, std::uint64_t inode, std::string_view path) {
    const Settled settled{parts_->world};
    tell_cgroup(settled.world, task, inode, path);
}

void Subsystem::task_loaded_bpf(const TaskName& task, std::span<const KernelSymbol> functions,
                                const BpfProgram& program) {
    const Settled settled{parts_->world};
    tell_bpf(settled.world, task, functions, program);
}

std::uint32_t Subsystem::wanted() const {
    return parts_->world.wanted;
}

void Subsystem::tick() {
    const Settled settled{parts_->world};
    const std::uint64_t interval = settled.world.host.limits().mux_interval_ns;
    for (const auto& [page, task] : settled.world.tasks) rotate_when_due(settled.world, *task, interval);
}

bool Subsystem::rotates() const {
    return parts_->world.waiting_tasks != 0;
}

std::size_t Subsystem::events() const {
    return parts_->world.events.size();
}

}  // namespace anyperf::subsystem
